"""Whatever a session holds, the provider gets user and assistant in turns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from custom_components.mimiclaw.agent.history import messages
from custom_components.mimiclaw.providers.protocol import AssistantMessage, UserMessage
from custom_components.mimiclaw.workspace.sessions import SessionMessage


def line(role: str, content: str) -> SessionMessage:
    return SessionMessage(role, content, 0.0)


def test_turns_stay() -> None:
    assert messages([line("user", "a"), line("assistant", "b")]) == (
        UserMessage("a"),
        AssistantMessage("b"),
    )


def test_begins_with_the_user() -> None:
    assert messages([line("assistant", "b"), line("user", "a")])[0] == UserMessage("a")


def test_an_answer_lost_in_a_crash() -> None:
    told = messages([line("user", "a"), line("user", "b"), line("assistant", "c")])
    assert told == (UserMessage("a\nb"), AssistantMessage("c"))
    assert isinstance(messages([line("user", "a")])[-1], AssistantMessage)


def test_a_summary_stands_first() -> None:
    told = messages([line("summary", "They spoke of a boiler."), line("user", "a")])
    assert isinstance(told[0], UserMessage)
    assert "boiler" in told[0].text
    assert isinstance(told[1], AssistantMessage)


@given(
    st.lists(
        st.builds(
            line,
            st.sampled_from(["user", "assistant", "tool", "summary"]),
            st.text(max_size=3),
        )
    )
)
def test_roles_always_alternate(session: list[SessionMessage]) -> None:
    told = messages(session)
    kinds = [type(one) for one in told]
    assert kinds == [UserMessage, AssistantMessage] * (len(kinds) // 2)
    assert all(
        isinstance(one, (UserMessage, AssistantMessage)) and one.text for one in told
    )
