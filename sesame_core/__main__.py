"""`python -m sesame_core` is `sesame`."""

from .cli import main

if __name__ == "__main__":
    main()
