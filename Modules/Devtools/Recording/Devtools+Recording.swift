#if SwiftOperationDevtools
  extension Devtools {
    /// Writes what happens in the stores of the client to a file, until the task is cancelled or the file has its full size.
    ///
    /// ```swift
    /// let recording = Task { try await devtools.record(to: "shop.ndjson") }
    /// ```
    ///
    /// The file contains events, states and at its end explanations, with paths and the texts of errors, but no value of an
    /// operation. `operation-devtools replay shop.ndjson` shows it on the page, and so does the button "Open…" of a page.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which is made anew.
    ///   - limit: The largest size in bytes.
    /// - Throws: ``DevtoolsError`` if the file cannot be written, or if the page itself shows a recording.
    public func record(to path: String, limit: Int = 256 << 20) async throws {
      guard let feed = self.liveFeed else {
        throw DevtoolsError(code: .recordingNotWritten, description: "A recording cannot be recorded again.")
      }
      let file = try RecordingFile(path: path, limit: limit)
      await feed.begin()
      let connection = await feed.connect(limit: FeedConnection.standardLimit, isPacked: true)
      let result = await Self.write(feed, connection, to: file)
      connection.end()
      await feed.end()
      try result.get()
    }

    private static func write(
      _ feed: LiveFeed,
      _ connection: FeedConnection,
      to file: consuming RecordingFile
    ) async -> Result<Void, any Error> {
      do {
        try await self.add(feed, connection, to: &file)
        return .success(())
      } catch {
        return .failure(error)
      }
    }

    private static func add(
      _ feed: LiveFeed,
      _ connection: FeedConnection,
      to file: inout RecordingFile
    ) async throws(DevtoolsError) {
      while let messages = await connection.next() {
        var isFull = false
        for message in messages.split(separator: "\n\n") where message.hasPrefix("data: ") {
          if try !file.add(message.dropFirst("data: ".count) + "\n") { isFull = true }
        }
        if isFull { break }
      }
      for explanation in await feed.explanations where try !file.add(explanation + "\n") { break }
    }
  }
#endif
