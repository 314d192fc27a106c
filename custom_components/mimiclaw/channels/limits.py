"""The limits of the channels, with the reason for each."""

from __future__ import annotations

from typing import Final

#: UTF-16 code units of one Telegram message, as its Bot API counts them.
MESSAGE_UNITS: Final = 4096
#: Bytes that a button may carry back.
BUTTON_BYTES: Final = 64
#: Buttons of one keyboard; Telegram refuses more than 100.
BUTTONS: Final = 60

#: Seconds between two drafts of one answer. Telegram takes about one message a second
#: from a bot in a chat; drafts count too.
DRAFT_EVERY_S: Final = 1.1
#: An answer that is there within this time, seconds, needs no sign that it is coming: a
#: command to a relay.
AT_ONCE_S: Final = 0.01
#: Telegram shows "typing" for five seconds.
TYPING_EVERY_S: Final = 4.5
#: How long the last sign of work is waited for before the answer goes out, seconds.
END_S: Final = 2.0
#: In a group, where there are no drafts, a turn that takes longer says what it does.
STATUS_AFTER_S: Final = 6.0
STATUS_EVERY_S: Final = 4.0

#: Actions at one time. telegram_bot's library has eight connections and gives up after a
#: second without one; whoever else uses the bot needs some, too.
MESSAGES_AT_ONCE: Final = 4
SIGNS_AT_ONCE: Final = 2
#: Deadline of one action of the telegram_bot integration, seconds. Its own is 30 minutes.
ACTION_S: Final = 30.0
DOWNLOAD_S: Final = 60.0
TRANSCRIBE_S: Final = 60.0
#: Waits between attempts when Telegram cannot be reached, seconds; the last one repeats.
RETRY_S: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
#: For how long a reply is tried before it is left to the next start.
DELIVER_FOR_S: Final = 15 * 60.0
#: Longest wait that Telegram may ask for with 429; beyond it the reply waits for a restart.
RETRY_AFTER_MAX_S: Final = 15 * 60.0

#: Bytes of a voice note, a picture and a document. Bots may download 20 MB.
VOICE_BYTES: Final = 10 * 1024 * 1024
PICTURE_BYTES: Final = 5 * 1024 * 1024
DOCUMENT_BYTES: Final = 8 * 1024 * 1024

#: Seconds that events are kept for a channel that is being reloaded.
INBOX_S: Final = 15 * 60.0
INBOX_EVENTS: Final = 2000
#: A message that lay longer, because Home Assistant was down, is not acted on by itself;
#: Telegram keeps messages for a day.
CATCH_UP_S: Final = 24 * 3600.0
#: A command to a relay that is older is asked about, never carried out late.
STALE_COMMAND_S: Final = 60.0

#: What the journal remembers of messages that are done with, to know a duplicate.
JOURNAL_DONE: Final = 5000
#: Ids of our own messages a chat, to know a reply to one of them.
JOURNAL_SENT: Final = 100
#: Lines after which the journal is written anew.
JOURNAL_LINES: Final = 50_000

#: How long a question with buttons is open, seconds, unless the action says otherwise.
ASK_S: Final = 300.0
ASK_MAX_S: Final = 24 * 3600.0
