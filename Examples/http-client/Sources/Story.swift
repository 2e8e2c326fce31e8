import Operation
import OperationHTTP

/// What happens to requests over a real HTTP client, scene by scene, with a check of each claim.
struct Story {
  let server: LibraryServer
  let library: Library
  let client: OperationClient
  private(set) var failures = 0

  init(server: LibraryServer, library: Library, client: OperationClient) {
    self.server = server
    self.library = library
    self.client = client
  }

  mutating func play() async throws {
    try await self.sharing()
    try await self.retrying()
    try await self.refusing()
    try await self.timingOut()
    try await self.writing()
  }

  private mutating func sharing() async throws {
    await self.server.prepare()
    let store = self.client.store(for: self.library.book(1))
    let titles = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<10 { group.addTask { try await store.fetch()?.title } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    self.check("ten callers get the book", titles == Array(repeating: "A first book", count: 10))
    let count = await self.server.requestCount
    // A caller that comes after the answer starts a request of its own.
    self.check("they share requests: \(count) for ten", count < 10)
    _ = try await self.client.ensureValue(for: self.library.book(1))
    self.check("a fresh value needs none", await self.server.requestCount == count)
  }

  private mutating func retrying() async throws {
    await self.server.prepare(.refusal(503, retryAfter: 1), .refusal(502, retryAfter: nil))
    let start = ContinuousClock.now
    let book = try await self.client.store(for: self.library.book(2).backoff(.constant(.milliseconds(50)))).fetch()
    self.check("a server that fails twice is asked three times", await self.server.requestCount == 3)
    self.check("the second time after the second that it asks for", .now - start >= .seconds(1))
    self.check("the caller gets the book", book?.title == "A second book")
  }

  private mutating func refusing() async throws {
    await self.server.prepare(.refusal(403, retryAfter: nil))
    do {
      _ = try await self.client.store(for: self.library.book(3)).fetch()
      self.check("a refusal is thrown", false)
    } catch let refusal as OperationHTTPStatusError {
      self.check("a refusal is thrown: \(refusal)", refusal.status == 403)
    }
    self.check("and not tried again", await self.server.requestCount == 1)
    let missing = try await self.client.store(for: self.library.book(4)).fetch()
    self.check("a book that the server does not have is nil, not an error", .some(missing) == .some(nil))
  }

  private mutating func timingOut() async throws {
    await self.server.prepare(.silence)
    let start = ContinuousClock.now
    let query = self.library.book(5).timeout(.milliseconds(300)).retry(limit: 0)
    do {
      _ = try await self.client.store(for: query).fetch()
      self.check("a request without an answer ends", false)
    } catch is OperationTimedOut {
      self.check("a request without an answer ends on time", .now - start < .seconds(5))
    }
  }

  private mutating func writing() async throws {
    await self.server.prepare()
    let store = self.client.store(for: self.library.book(1))
    let subscription = store.subscribe { _ in }
    defer { subscription.cancel() }
    _ = try await self.client.store(for: self.library.renaming(1)).mutate(with: "Another title")
    // The mutation has invalidated the book, and its subscriber makes it run again.
    await self.client.invalidate(matching: ["books", 1]).settled()
    self.check("a change reaches who shows the book", (store.currentValue ?? nil)?.title == "Another title")
  }

  private mutating func check(_ sentence: String, _ isTrue: Bool) {
    print("\(isTrue ? "✓" : "✗") \(sentence)")
    if !isTrue { self.failures += 1 }
  }
}
