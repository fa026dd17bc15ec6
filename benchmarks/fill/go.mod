module windtunnel/benchmarks/fill

go 1.21
