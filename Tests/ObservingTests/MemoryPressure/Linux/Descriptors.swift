#if os(Linux)
  import Foundation
  import OperationEventLoop
  import OperationTesting
  import TestFixtures
  import Testing

  /// The open files of the process.
  enum Descriptors {
    static var all: [String] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0) }
    }

    static func count(at prefix: String) -> Int {
      self.all.count { $0.hasPrefix(prefix) }
    }

    /// Counts on the loop, between its callbacks, because a callback opens more files while it reads.
    static func count(at prefix: String, on loop: EventLoop) async throws -> Int? {
      let counts = Log<Int>()
      let isCounted = Gate()
      let registration = loop.schedule(after: .zero) {
        counts.append(Self.count(at: prefix))
        isCounted.open()
      }
      defer { registration.cancel() }
      try await isCounted.wait()
      return counts.all.first
    }
  }
#endif
