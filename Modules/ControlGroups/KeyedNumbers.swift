#if os(Linux)
  /// A file with a name and a number on each line: `memory.events`, `memory.stat`, `meminfo`.
  package struct KeyedNumbers: Hashable, Sendable {
    private var numbers: [String: UInt64] = [:]

    /// Parses lines of a name, a number and an optional unit; other lines are skipped.
    ///
    ///     high 12
    ///     MemTotal:       16314184 kB
    package init(parsing text: String) {
      for line in text.split(separator: "\n") {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count >= 2, let number = UInt64(decimal: words[1].utf8) else { continue }
        let name = words[0].hasSuffix(":") ? words[0].dropLast() : words[0]
        self.numbers[String(name)] = number
      }
    }

    /// These numbers, and the numbers in `others` under names that are missing here.
    package func completed(by others: KeyedNumbers) -> KeyedNumbers {
      var all = self
      all.numbers.merge(others.numbers) { own, _ in own }
      return all
    }

    package subscript(name: String) -> UInt64? { self.numbers[name] }
  }
#endif
