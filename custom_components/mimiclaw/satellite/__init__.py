"""Relays on ESPHome satellites: link, channels, policy, commands."""
