#if SwiftOperationValkey
  /// A command with its arguments, as the server reads it: an array of strings, each after its length.
  struct Request: Sendable {
    private var arguments: [UInt8] = []
    private var count = 0

    init(_ words: String...) {
      for word in words { self.append(word) }
    }

    mutating func append(_ bytes: some Collection<UInt8>) {
      self.arguments += "$\(bytes.count)\r\n".utf8
      self.arguments += bytes
      self.arguments += "\r\n".utf8
      self.count += 1
    }

    mutating func append(_ text: String) { self.append(text.utf8) }

    mutating func append(_ number: Int64) { self.append("\(number)") }

    /// The bytes to send.
    var encoded: [UInt8] { Array("*\(self.count)\r\n".utf8) + self.arguments }
  }
#endif
