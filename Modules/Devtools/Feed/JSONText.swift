#if SwiftOperationDevtools
  internal import OperationFoundation

  /// A text in JSON, written member by member.
  ///
  /// A thousand events a second are written with it, also in debug builds, in which an `Encoder` is many times slower. Texts
  /// have no `<`, so that they stay texts wherever they are put.
  struct JSONText: Sendable {
    private(set) var text = ""
    private var needsComma = false

    /// Writes an object.
    mutating func object(_ members: (inout JSONText) -> Void) { self.nest("{", "}", members) }

    /// Writes an array.
    mutating func array(_ elements: (inout JSONText) -> Void) { self.nest("[", "]", elements) }

    private mutating func nest(_ open: String, _ close: String, _ content: (inout JSONText) -> Void) {
      self.separate()
      self.text += open
      self.needsComma = false
      content(&self)
      self.text += close
      self.needsComma = true
    }

    private mutating func separate() {
      if self.needsComma { self.text += "," }
      self.needsComma = true
    }

    /// Writes the name of a member, which its value follows.
    mutating func key(_ name: String) {
      self.separate()
      self.quote(name)
      self.text += ":"
      self.needsComma = false
    }

    /// Writes JSON that was written before.
    mutating func raw(_ json: String) {
      self.separate()
      self.text += json
    }

    mutating func value(_ text: String) {
      self.separate()
      self.quote(text)
    }

    mutating func value(_ texts: [String]) {
      self.array { json in
        for text in texts { json.value(text) }
      }
    }

    mutating func value(_ number: Int) { self.raw("\(number)") }

    mutating func value(_ flag: Bool) { self.raw(flag ? "true" : "false") }

    mutating func value(_ number: Double) { self.raw(number.isFinite ? "\(number)" : "null") }

    /// The seconds since 1970.
    mutating func value(_ date: Date) { self.value(date.timeIntervalSince1970) }

    private mutating func quote(_ string: String) {
      self.text += "\""
      // Nearly each text, and much faster than a look at its characters.
      if string.utf8.allSatisfy({ $0.isPlain }) {
        self.text += string
        self.text += "\""
        return
      }
      var rest = string[...]
      while let index = rest.unicodeScalars.firstIndex(where: { $0.needsEscape }) {
        self.text += rest[..<index]
        let code = String(rest.unicodeScalars[index].value, radix: 16)
        self.text += "\\u" + String(repeating: "0", count: 4 - code.count) + code
        rest = rest[rest.unicodeScalars.index(after: index)...]
      }
      self.text += rest
      self.text += "\""
    }
  }

  extension JSONText {
    /// Writes a member, unless its value is nil.
    mutating func member(_ name: String, _ text: String?) {
      guard let text else { return }
      self.key(name)
      self.value(text)
    }

    mutating func member(_ name: String, _ number: Int?) {
      guard let number else { return }
      self.key(name)
      self.value(number)
    }

    mutating func member(_ name: String, _ number: Double?) {
      guard let number else { return }
      self.key(name)
      self.value(number)
    }

    mutating func member(_ name: String, _ date: Date?) {
      guard let date else { return }
      self.key(name)
      self.value(date)
    }

    /// Writes a flag that is true.
    mutating func flag(_ name: String, _ isTrue: Bool) {
      guard isTrue else { return }
      self.key(name)
      self.value(true)
    }

    /// A text with one object.
    static func object(_ members: (inout JSONText) -> Void) -> String {
      var json = JSONText()
      json.object(members)
      return json.text
    }
  }

  extension Unicode.Scalar {
    fileprivate var needsEscape: Bool {
      switch self.value {
      case 0..<0x20, 0x22, 0x5C, 0x3C, 0x3E, 0x26, 0x7F, 0x2028, 0x2029: true
      default: false
      }
    }
  }

  extension UInt8 {
    /// Whether it is a character of ASCII that needs no escape.
    fileprivate var isPlain: Bool {
      switch self {
      case 0x22, 0x26, 0x3C, 0x3E, 0x5C: false
      default: 0x20..<0x7F ~= self
      }
    }
  }
#endif
