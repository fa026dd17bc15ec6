#!/bin/sh
# Every component of the operator: the name under which this is called says which.
#
# The first process of a container ignores signals that it has not asked for, and Python asks late.
# So the shell is the first one, and hands on what ends the agent, however early it comes.
trap 'kill -TERM "$agent" 2>/dev/null' TERM INT
windtunnel agent "${0##*/}" "$@" &
agent=$!
code=0
while kill -0 "$agent" 2>/dev/null; do
    wait "$agent"
    code=$?
done
exit "$code"
