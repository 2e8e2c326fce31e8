#if os(Linux)
  internal import OperationPlatform

  /// What the system reports about the process's terminal and the machine's sleep.
  enum SystemStatus {
    /// How long the machine has slept since it booted.
    static var timeAsleep: Duration {
      Self.time(CLOCK_BOOTTIME) - Self.time(CLOCK_MONOTONIC)
    }

    private static func time(_ clock: clockid_t) -> Duration {
      var time = timespec()
      clock_gettime(clock, &time)
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Whether the process is in the foreground of its terminal; nil without a terminal.
    static var isForeground: Bool? {
      let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
      guard terminal >= 0 else { return nil }
      defer { close(terminal) }
      let group = tcgetpgrp(terminal)
      return group >= 0 ? group == getpgrp() : nil
    }
  }
#endif
