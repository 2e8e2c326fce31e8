import Foundation
import Observation
import OperationHTTP
import SharingOperation

/// A search field, and the titles below it.
@MainActor
@Observable
final class SearchField {
  /// What is typed. Each text is an operation of its own; the field moves from one to the next.
  var text = "" { didSet { self.move() } }

  @ObservationIgnored @SharedOperation<QueryState<[String], any Error>> private var found: [String]?
  private let address: URL
  private let pause: Duration
  private let client = OperationClient(storeCreator: .default(networkObserver: nil, activityObserver: nil))

  init(address: URL, pause: Duration) {
    self.address = address
    self.pause = pause
    self._found = SharedOperation(
      Self.search("", at: address, after: pause),
      keepsPrevious: true,
      client: self.client
    )
  }

  /// What the field shows.
  var screen: Screen {
    Screen(
      titles: self.found ?? [],
      isPrevious: self.$found.isPrevious,
      isLoading: self.$found.isLoading,
      hasFailed: self.$found.error != nil
    )
  }

  private func move() {
    self.$found = SharedOperation(
      Self.search(self.text, at: self.address, after: self.pause),
      keepsPrevious: true,
      client: self.client
    )
  }

  /// The titles with a text, which are asked for when nothing was typed for a while. They are fresh for a minute.
  private static func search(
    _ text: String,
    at address: URL,
    after pause: Duration
  ) -> some QueryRequest<[String], any Error> & Sendable {
    QueryOperation("search", text) { text, context in
      guard !text.isEmpty else { return [] }
      let query = URLQueryItem(name: "text", value: text)
      let request = OperationHTTPRequest(address.appending(path: "titles").appending(queryItems: [query]))
      return try await context.send(request).decoded(as: [String].self)
    }
    .retry(limit: 0)
    .stale(after: .seconds(60))
    .debounced(for: pause)
  }
}

/// What a search field shows.
struct Screen: Hashable, Sendable {
  var titles: [String]
  /// Whether these are the titles of an earlier text.
  var isPrevious: Bool
  var isLoading: Bool
  var hasFailed: Bool
}
