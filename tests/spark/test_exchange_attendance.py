"""Which ranks may run together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flintlog.engines.spark.exchange.attendance import SETTLE_SECONDS, Attendance, Member
from flintlog.engines.spark.exchange.endings import SUPERSEDED, lost, missing


def _come(
    attendance: Attendance, rank: int, attempt: int, now: float = 0.0
) -> tuple[Member, list[tuple[int, int, object]]]:
    member = Member(rank, attempt, ("host", rank), None, now)
    told = attendance.register(member)
    return member, [(other.rank, other.attempt, ending) for other, ending in told]


def _together(attendance: Attendance, now: float = 0.0) -> list[int] | None:
    members = attendance.assemble(now)
    return None if members is None else [members[rank].attempt for rank in sorted(members)]


def test_a_generation_is_complete_when_all_ranks_are_here() -> None:
    attendance = Attendance(3, 10)
    for rank in (2, 0):
        assert _come(attendance, rank, 5 + rank)[1] == []
        assert _together(attendance) is None
    _come(attendance, 1, 6)
    assert _together(attendance) == [5, 6, 7]
    assert attendance.generation == 1
    assert _together(attendance) is None


def test_a_lost_rank_ends_its_generation_and_a_finished_one_does_not() -> None:
    attendance = Attendance(3, 10)
    members = [_come(attendance, rank, 1)[0] for rank in range(3)]
    _together(attendance)
    assert attendance.leave(members[0], in_good_order=True) == []
    assert attendance.leave(members[1], in_good_order=False) == [(members[2], lost(1))]
    assert attendance.leave(members[2], in_good_order=False) == []


def test_ranks_of_a_lost_stage_do_not_meet_those_of_the_next() -> None:
    """Numbers as Spark gives them. Rank 2 of the first stage never came; rank 1 has not yet been ended."""
    attendance = Attendance(3, 60)
    _come(attendance, 0, 10)
    _come(attendance, 1, 11)
    assert _come(attendance, 0, 13, 1.0)[1] == [(0, 10, SUPERSEDED)]
    _come(attendance, 2, 15, 1.0)
    assert _together(attendance, 1.1) is None
    assert attendance.next_event() == 1.0 + SETTLE_SECONDS
    assert _come(attendance, 1, 14, 1.5)[1] == [(1, 11, SUPERSEDED)]
    assert _together(attendance, 1.6) == [13, 14, 15]


def test_numbers_far_apart_are_taken_together_after_a_while() -> None:
    attendance = Attendance(2, 60)
    _come(attendance, 0, 100)
    _come(attendance, 1, 50)
    assert _together(attendance, SETTLE_SECONDS - 0.1) is None
    assert _together(attendance, SETTLE_SECONDS) == [100, 50]


def test_what_is_not_newer_than_a_replaced_attempt_is_old() -> None:
    attendance = Attendance(3, 60)
    _come(attendance, 0, 1)
    _come(attendance, 1, 1)
    assert _come(attendance, 0, 2)[1] == [(0, 1, SUPERSEDED), (1, 1, SUPERSEDED)]
    assert _come(attendance, 2, 1)[1] == [(2, 1, SUPERSEDED)]
    assert sorted(attendance.waiting) == [0]


def test_an_old_attempt_that_comes_late_is_sent_away() -> None:
    attendance = Attendance(2, 60)
    _come(attendance, 0, 7)
    assert _come(attendance, 0, 6)[1] == [(0, 6, SUPERSEDED)]
    assert attendance.waiting[0].attempt == 7


def test_a_newer_attempt_ends_the_generation_that_runs() -> None:
    attendance = Attendance(2, 60)
    for rank in (0, 1):
        _come(attendance, rank, 1 + rank)
    _together(attendance)
    assert _come(attendance, 1, 4)[1] == [(0, 1, SUPERSEDED), (1, 2, SUPERSEDED)]
    assert (sorted(attendance.running), sorted(attendance.waiting)) == ([], [1])


def test_waiting_has_an_end() -> None:
    attendance = Attendance(3, 10)
    _come(attendance, 0, 1, 100.0)
    _come(attendance, 2, 1, 104.0)
    assert attendance.next_event() == 110.0
    assert attendance.expire(109.0) == []
    assert [(member.rank, ending) for member, ending in attendance.expire(110.0)] == [
        (0, missing([1], 10)),
        (2, missing([1], 10)),
    ]
    assert attendance.next_event() is None


EVENTS = st.lists(st.tuples(st.sampled_from(["come", "leave", "finish", "wait"]), st.integers(0, 2), st.integers(1, 9)))


@given(EVENTS)
def test_nobody_who_has_gone_is_in_a_generation(events: list[tuple[str, int, int]]) -> None:
    """Whatever happens, in whatever order: who is put together is there and has not been told otherwise."""
    attendance, now = Attendance(3, 1000), 0.0
    here: dict[int, Member] = {}
    for event, rank, number in events:
        now += number if event == "wait" else 0
        told: list[Member] = []
        if event == "come":
            here[rank] = Member(rank, number, ("host", rank), None, now)
            told = [other for other, _ in attendance.register(here[rank])]
        elif event != "wait" and rank in here:
            told = [other for other, _ in attendance.leave(here.pop(rank), event == "finish")]
        here = {rank: member for rank, member in here.items() if member not in told}
        members = attendance.assemble(now)
        assert members is None or (members == here and len(members) == 3)
