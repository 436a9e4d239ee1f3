"""`python -m dsqa` is `dsqa`."""

from dsqa.cli import main

if __name__ == "__main__":
    main()
