import pytest

from windtunnel.controllers.job.indexes import index_of


@pytest.mark.parametrize(
    ("text", "want"), [("0", 0), ("4", 4), ("5", None), ("-1", None), ("x", None), ("", None)]
)
def test_a_pods_index(text: str, want: int | None) -> None:
    assert index_of({"batch.kubernetes.io/job-completion-index": text}, 5) == want
