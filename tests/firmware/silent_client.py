"""A program of its own that switches the pump on and then only stays connected."""

from __future__ import annotations

import asyncio
import sys

from aioesphomeapi import APIClient, SwitchInfo


async def main(port: int) -> None:
    """Switch on, say so, wait to be stopped."""
    client = APIClient("127.0.0.1", port, "")
    await client.connect(login=True)
    entities, _ = await client.list_entities_services()
    pump = next(
        e for e in entities if isinstance(e, SwitchInfo) and e.name == "Water pump"
    )
    client.subscribe_states(
        lambda state: (
            print("on", flush=True)
            if state.key == pump.key and getattr(state, "state", False)
            else None
        )
    )
    client.switch_command(pump.key, True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
