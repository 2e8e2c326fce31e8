#if os(Linux)
  import Foundation

  /// What the process has open, by where it leads.
  enum Descriptors {
    static var all: [String] {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0) }
    }

    static func count(at prefix: String) -> Int {
      self.all.count { $0.hasPrefix(prefix) }
    }
  }
#endif
