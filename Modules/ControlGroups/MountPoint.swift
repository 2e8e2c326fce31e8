#if os(Linux)
  /// A line of `mountinfo`: a mounted directory of a file system, and where it is mounted.
  package struct MountPoint: Hashable, Sendable {
    /// The mounted directory within the file system.
    package var root: String
    /// The mount point.
    package var path: String
    /// The type of the file system.
    package var type: String
    /// The mount options of the file system itself, such as the controllers of a control group hierarchy.
    package var options: Set<Substring>

    /// Parses a `mountinfo` file; invalid lines are skipped.
    ///
    ///     41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:5 - cgroup2 cgroup2 rw
    package static func all(parsing text: String) -> [MountPoint] {
      text.split(separator: "\n").compactMap { MountPoint(parsing: $0) }
    }

    package init?(parsing line: Substring) {
      let words = line.split(separator: " ")
      // Any number of optional fields may come before the dash.
      guard words.count > 6, let dash = words.dropFirst(6).firstIndex(of: "-"), words.count > dash + 1 else {
        return nil
      }
      self.root = Self.unescaped(words[3])
      self.path = Self.unescaped(words[4])
      self.type = String(words[dash + 1])
      self.options = words.count > dash + 3 ? Set(words[dash + 3].split(separator: ",")) : []
    }

    /// Paths contain spaces, tabs, line ends and backslashes as a backslash and three octal digits.
    private static func unescaped(_ text: Substring) -> String {
      guard text.utf8.contains(UInt8(ascii: "\\")) else { return String(text) }
      var bytes: [UInt8] = []
      var rest = text.utf8[...]
      while let byte = rest.popFirst() {
        let digits = rest.prefix(3)
        if byte == UInt8(ascii: "\\"), digits.count == 3, let escaped = UInt8(String(Substring(digits)), radix: 8) {
          bytes.append(escaped)
          rest = rest.dropFirst(3)
        } else {
          bytes.append(byte)
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
