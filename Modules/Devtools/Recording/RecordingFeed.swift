#if SwiftOperationDevtools
  internal import OperationCore
  internal import OperationPlatform

  /// The messages of a recording, for pages.
  struct RecordingFeed: Feed {
    private let messages: [String]

    /// Reads a recording.
    ///
    /// - Parameter path: The path of the file. A last line that is not complete is left out.
    /// - Throws: An error if the file cannot be read, or is no recording.
    init(path: String) throws(DevtoolsError) {
      guard let file = fopen(path, "r") else {
        throw DevtoolsError(
          code: .recordingNotRead,
          description: "The file \(path) cannot be read: \(String(cString: strerror(errno)))."
        )
      }
      defer { fclose(file) }
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
      try self.init(String(decoding: bytes, as: UTF8.self), name: path)
    }

    /// Reads the lines of a recording.
    init(_ text: String, name: String) throws(DevtoolsError) {
      var lines = text.split(separator: "\n").map(String.init)
      if !text.hasSuffix("\n") { lines = lines.dropLast() }
      guard let first = lines.first, first.hasPrefix(#"{"type":"hello","version":1,"#) else {
        throw DevtoolsError(code: .recordingNotRead, description: "\(name) is no recording of a client.")
      }
      lines[0] = first.replacing(#""live":true,"#, with: "").replacing(#""actions":true,"#, with: "")
      self.messages = lines + [#"{"type":"end"}"#]
    }

    // The messages are there.
    func begin() {}

    func end() {}

    func connect() -> FeedConnection {
      let connection = FeedConnection(limit: .max)
      for message in self.messages { connection.send(FeedMessage.event(message)) }
      return connection
    }

    func answer(_ request: FeedRequest) -> FeedAnswer {
      switch (request.method, request.path) {
      case ("GET", "/api/hello"): .json(self.messages[0])
      case ("GET", "/api/recording"): .lines(self.messages.dropLast().map { $0 + "\n" }.joined())
      case ("POST", _): .forbidden("A recording cannot be changed.")
      default: .unknown
      }
    }
  }
#endif
