#if SwiftOperationSQLite
  internal import Foundation
  internal import OperationPlatform

  /// The time by which leases end: the same in all processes of a machine, and not changed by setting its clock.
  package struct LeaseClock: Sendable {
    /// Identifies the time since which the clock counts: the last start of the machine.
    let start: String
    /// The nanoseconds since the machine was started, including those in which it was asleep.
    let now: @Sendable () -> Int64

    package init(start: String, now: @escaping @Sendable () -> Int64) {
      self.start = start
      self.now = now
    }

    /// The clock of the machine.
    package static let ofMachine = LeaseClock(start: Self.startOfMachine) {
      #if os(Linux)
        let source = CLOCK_BOOTTIME
      #else
        let source = CLOCK_MONOTONIC
      #endif
      var time = timespec()
      clock_gettime(source, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static var startOfMachine: String {
      #if canImport(Darwin)
        var bytes = [UInt8](repeating: 0, count: 64)
        var size = bytes.count
        guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return "" }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      #else
        let text = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id") ?? Data()
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      #endif
    }
  }
#endif
