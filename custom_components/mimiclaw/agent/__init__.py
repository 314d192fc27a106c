"""One turn: prompt, loop, history, tools, trace."""
