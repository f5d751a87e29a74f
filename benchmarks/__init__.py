"""The harness everything is measured with: see docs/benchmarks.md."""
