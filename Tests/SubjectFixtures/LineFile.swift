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
    package let number: Int

    package init(number: Int) {
      self.number = number
    }
  }
#endif
