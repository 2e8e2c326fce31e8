import Operation
import PostService

/// What a reader does with the feed, scene by scene, with a check of each claim.
struct Story: Sendable {
  let transcript: Transcript
  let newsroom: Newsroom
  let timeline: Timeline
  let client = OperationClient(storeCreator: .default(networkObserver: nil, activityObserver: nil))

  func play() async throws {
    let screens = Screens(
      feed: self.timeline.feed(in: self.client),
      page: self.timeline.page(9, in: self.client),
      transcript: self.transcript
    )
    try await self.open(screens)
    try await self.rename(screens)
    try await self.refuse(screens)
    try await self.scroll(screens)
    try await self.pull(screens)
    try await self.renameWhilePulling(screens)
  }

  private func open(_ screens: Screens) async throws {
    self.transcript.title("1. A reader opens the feed, and the page of an article")
    await screens.feed.settled()
    try await screens.page.fetch()
    self.transcript.check("the newest articles are there", screens.ids, equals: [10, 9, 8, 7])
    self.transcript.check("by one request each", self.newsroom.requests.count, equals: 2)
  }

  /// Begins to rename the article, and waits until the server has the request.
  private func begin(_ title: String) async -> (gate: Gate, call: Task<Article, any Error>) {
    let gate = self.newsroom.hold("PUT /articles/9")
    let store = self.client.store(for: self.timeline.renaming)
    let call = Task { try await store.mutate(with: Article(id: 9, title: title)) }
    await self.newsroom.isAsked("PUT /articles/9")
    self.transcript.say(.caller, "has renamed the article to \"\(title)\"")
    return (gate, call)
  }

  private func rename(_ screens: Screens) async throws {
    self.transcript.title("2. The article is renamed on its page")
    let (gate, call) = await self.begin("nine lives")
    self.transcript.check("both show the new title at once", screens.titles, equals: ["nine lives", "nine lives"])
    gate.open()
    let result = try await call.value
    self.transcript.check("the server has changed it", result.title, equals: "Nine lives")
    self.transcript.check("both show what the server says", screens.titles, equals: ["Nine lives", "Nine lives"])
    self.transcript.check("without another request", self.newsroom.requests.count, equals: 3)
  }

  private func refuse(_ screens: Screens) async throws {
    self.transcript.title("3. The server refuses a title")
    self.newsroom.refuse("PUT /articles/9")
    let (gate, call) = await self.begin("rude words")
    self.transcript.check("both show it while it is sent", screens.titles, equals: ["rude words", "rude words"])
    gate.open()
    let hasFailed = if case .failure = await call.result { true } else { false }
    self.transcript.check("the call fails", hasFailed)
    self.transcript.check("both are as they were", screens.titles, equals: ["Nine lives", "Nine lives"])
  }

  private func scroll(_ screens: Screens) async throws {
    self.transcript.title("4. Two articles are published, and the reader scrolls down")
    for title in ["Eleven", "Twelve"] { self.newsroom.publish(title) }
    try await screens.feed.fetchNextPage()
    let loaded = screens.feed.currentValue.flatMap(\.value).map(\.id)
    self.transcript.check("two have moved to the next page", loaded, equals: [10, 9, 8, 7, 8, 7, 6, 5])
    self.transcript.check("each is shown once", screens.ids, equals: [10, 9, 8, 7, 6, 5])
  }

  private func pull(_ screens: Screens) async throws {
    self.transcript.title("5. The reader pulls the list down")
    let count = self.newsroom.requests.count
    try await screens.feed.refetchFirstPage()
    self.transcript.check("one page is asked for", self.newsroom.requests.count, equals: count + 1)
    self.transcript.check("the new articles are on top, each once", screens.ids, equals: [12, 11, 10, 9, 8, 7, 6, 5])
    try await screens.feed.refetchFirstPage(keeping: .none)
    self.transcript.check("or the list begins anew", screens.ids, equals: [12, 11, 10, 9])
  }

  private func renameWhilePulling(_ screens: Screens) async throws {
    self.transcript.title("6. The article is renamed while the list is on its way")
    let list = self.newsroom.hold("GET /articles after 0")
    let pulling = Task { try await screens.feed.refetchFirstPage() }
    await self.newsroom.isAsked("GET /articles after 0")
    let (gate, call) = await self.begin("Nine more lives")
    gate.open()
    _ = try await call.value
    list.open()
    _ = try await pulling.value
    self.transcript.check(
      "the older list does not bring the older title back",
      screens.titles,
      equals: ["Nine more lives", "Nine more lives"]
    )
    try await screens.feed.refetchFirstPage()
    self.transcript.check("nor does a newer one", screens.titles, equals: ["Nine more lives", "Nine more lives"])
  }
}
