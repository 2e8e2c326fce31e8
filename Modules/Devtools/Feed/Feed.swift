#if SwiftOperationDevtools
  /// What a page shows: a client, or a recording.
  protocol Feed: Sendable {
    /// Begins to follow what it shows, for one more user.
    func begin() async

    /// Ends what ``begin()`` has begun. Without users nothing is followed.
    func end() async

    /// Begins to send messages, from the beginning.
    func connect() async -> FeedConnection

    /// Answers a question of a page.
    ///
    /// - Parameter request: The question.
    /// - Returns: JSON; nil if there is no such thing.
    func answer(_ request: FeedRequest) async -> FeedAnswer
  }

  /// A question of a page.
  struct FeedRequest: Sendable {
    let method: String
    let path: String
    let query: [String: String]
    let body: String
  }

  /// The answer to a question of a page.
  enum FeedAnswer: Sendable {
    case json(String)
    /// A text to be kept in a file.
    case lines(String)
    case unknown
    case forbidden(String)
    case wrong(String)
  }

  /// A message for a page: a line of JSON. A recording is the messages, each in a line.
  enum FeedMessage {
    /// The form in which a browser receives it.
    static func event(_ json: String) -> String { "data: \(json)\n\n" }

    /// Nothing, to learn whether the page is still there.
    static let heartbeat = ": \n\n"
  }
#endif
