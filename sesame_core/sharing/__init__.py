"""Which sessions others see in a shared index.  The only code that knows visibility."""
