// fill sends one-GPU pods to an API server from several clients at once and says how long it took.
//
//	fill -kubeconfig FILE -pods 5000 -clients 8
//
// It prints one line of JSON: when the first request was sent, when the last was answered, how many
// were accepted, and the latencies. Whether the pods come to run is for the caller to find out.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

type target struct {
	url    string
	config *tls.Config
}

// kubeconfig is the part of a kubeconfig, written as JSON, that is needed here.
type kubeconfig struct {
	Clusters []struct {
		Cluster struct {
			Server string `json:"server"`
			CA     string `json:"certificate-authority-data"`
		} `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		User struct {
			Certificate string `json:"client-certificate-data"`
			Key         string `json:"client-key-data"`
		} `json:"user"`
	} `json:"users"`
}

func readTarget(path string) (target, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return target{}, err
	}
	var config kubeconfig
	if err := json.Unmarshal(content, &config); err != nil {
		return target{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(config.Clusters) != 1 || len(config.Users) != 1 {
		return target{}, fmt.Errorf("%s: want one cluster and one user", path)
	}
	var pem [3][]byte
	user, cluster := config.Users[0].User, config.Clusters[0].Cluster
	for i, text := range []string{cluster.CA, user.Certificate, user.Key} {
		if pem[i], err = base64.StdEncoding.DecodeString(text); err != nil {
			return target{}, err
		}
	}
	pair, err := tls.X509KeyPair(pem[1], pem[2])
	if err != nil {
		return target{}, err
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(pem[0])
	return target{
		url:    cluster.Server,
		config: &tls.Config{RootCAs: authorities, Certificates: []tls.Certificate{pair}},
	}, nil
}

func pod(number int, pool string) []byte {
	selector := ""
	if pool != "" {
		selector = fmt.Sprintf(`"nodeSelector":{"run.ai/simulated-gpu-node-pool":%q},`, pool)
	}
	return []byte(fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"fill-%d"},`+
		`"spec":{%s"containers":[{"name":"main","image":"example.com/work:1",`+
		`"resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}`, number, selector))
}

// client creates pods until none is left; it reports each latency and each refusal.
func client(t target, path, pool string, next *int64, total int, latencies chan<- time.Duration, refused *int64) {
	// A transport of its own for each client: eight programs, not one that multiplexes.
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: t.config, MaxIdleConnsPerHost: 1}}
	for {
		number := int(atomic.AddInt64(next, 1)) - 1
		if number >= total {
			return
		}
		began := time.Now()
		answer, err := web.Post(t.url+path, "application/json", bytes.NewReader(pod(number, pool)))
		if err != nil {
			log.Fatal(err)
		}
		content, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		latencies <- time.Since(began)
		if answer.StatusCode != http.StatusCreated {
			if atomic.AddInt64(refused, 1) == 1 {
				log.Printf("refused with %d: %s", answer.StatusCode, content)
			}
		}
	}
}

func main() {
	file := flag.String("kubeconfig", "", "kubeconfig, written as JSON")
	pods := flag.Int("pods", 5000, "how many pods")
	clients := flag.Int("clients", 8, "how many clients at once")
	pool := flag.String("pool", "", "the pool of nodes they may come to; any by default")
	namespace := flag.String("namespace", "default", "where to")
	flag.Parse()
	t, err := readTarget(*file)
	if err != nil {
		log.Fatal(err)
	}
	path := "/api/v1/namespaces/" + *namespace + "/pods"
	latencies := make(chan time.Duration, *pods)
	var next, refused int64
	var all sync.WaitGroup
	first := time.Now()
	for range make([]struct{}, *clients) {
		all.Add(1)
		go func() {
			defer all.Done()
			client(t, path, *pool, &next, *pods, latencies, &refused)
		}()
	}
	all.Wait()
	last := time.Now()
	close(latencies)
	var sorted []time.Duration
	for latency := range latencies {
		sorted = append(sorted, latency)
	}
	sort.Slice(sorted, func(i, j int) bool { return sorted[i] < sorted[j] })
	at := func(share float64) float64 {
		return sorted[int(share*float64(len(sorted)-1))].Seconds() * 1e3
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"first":   float64(first.UnixNano()) / 1e9,
		"last":    float64(last.UnixNano()) / 1e9,
		"refused": refused,
		"p50_ms":  at(0.5),
		"p99_ms":  at(0.99),
	})
}
