"""What a command cost."""

import sys

from benchmarks.process import measure

BURN = "import time\nwhile time.process_time() < 0.2: pass\n"


def test_output_code_and_cost(tmp_path):
    done = measure(
        [sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"], tmp_path, 60
    )
    assert (done.stdout, done.stderr, done.code, done.timed_out) == ("out\n", "err\n", 3, False)
    assert done.wall > 0
    assert done.mb > 1


def test_cpu_time_of_grandchildren_counts(tmp_path):
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}])"
    assert measure([sys.executable, "-c", nested], tmp_path, 60).cpu >= 0.2


def test_a_late_process_is_killed(tmp_path):
    done = measure([sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(60)"], tmp_path, 1.0)
    assert done.timed_out
    assert done.code != 0
    assert done.wall < 30
