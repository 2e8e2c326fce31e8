#if os(Linux)
  internal import FoundationEssentials
  internal import Glibc

  /// A file of lines. A line is written in one call, so that it is whole even if the process is killed.
  package struct LineFile: Sendable {
    package let path: String

    package init(_ path: String) {
      self.path = path
    }

    package var lines: [String] {
      guard let data = FileManager.default.contents(atPath: self.path) else { return [] }
      return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    package func append(_ line: String) {
      let descriptor = open(self.path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
      let bytes = Array((line + "\n").utf8)
      _ = write(descriptor, bytes, bytes.count)
      close(descriptor)
    }
  }

  /// The arguments of a mutation whose calls subjects make.
  package struct Line: Codable, Sendable {
    /// How many scopes there are for processes that make calls in several.
    package static let scopes = 4

    package let number: Int

    /// The scope of a call of the process that this number is of: it makes sixteen in one, while others are in others.
    package var scope: Int { (self.number / 1_000 + self.number % 1_000 / 16) % Self.scopes }

    package init(number: Int) {
      self.number = number
    }
  }
#endif
