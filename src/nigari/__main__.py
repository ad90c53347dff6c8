"""`python -m nigari` is the `nigari` command."""

from __future__ import annotations

from nigari.code_file import use_code_file


def main() -> None:
    """Run the command line of this process, and end it."""
    use_code_file()
    # What it imports comes from the file by then.
    from nigari.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
