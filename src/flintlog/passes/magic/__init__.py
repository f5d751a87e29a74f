"""Magic sets. `demand` is the pass."""
