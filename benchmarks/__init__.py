"""Speed against peers: each `bench_*.py` lists its cases, `python -m benchmarks` runs them all."""
