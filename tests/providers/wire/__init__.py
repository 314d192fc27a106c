"""Loopback servers that speak the providers' wire formats.

They judge requests as the real APIs do and answer from a script, over real HTTP. Tests
of other rooms, the demo and the benches start them too.
"""
