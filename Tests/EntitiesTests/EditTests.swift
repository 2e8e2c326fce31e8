import OperationCore
import OperationEntities
import OperationMutation
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// Edits of an entity that several values have.
@Suite(.bounded, .warningsAreIssues) struct EditTests {
  private let client = OperationClient()
  private let script = OperationScript<Post, any Error>()

  private func titles(_ store: FeedStore) -> [String] { (store.currentValue ?? []).map(\.title) }

  private func begin(
    _ mutation: some MutationRequest<Edit, Post, any Error>,
    _ edit: Edit
  ) async throws -> (
    task: Task<Post, any Error>, run: ScriptedRun<Post, any Error>
  ) {
    let store = self.client.store(for: mutation)
    let task = Task.immediate { try await store.mutate(with: edit) }
    return (task, try await self.script.next())
  }

  @Test func `A set of one value shows in all others that have the part`() {
    let feed = self.client.feed(initialValue: posts([7: "a", 8: "b"]))
    let detail = self.client.detail(initialValue: Detail(post: Post(id: 7, title: "a"), author: Author(id: 1)))
    feed.currentValue?[0].title = "new"
    expect(detail.currentValue?.post.title, equals: "new")
    detail.currentValue?.post.title = "newer"
    expect(self.titles(feed), equals: ["newer", "b"])
    expect(self.client.entity(Post.self, id: 7)?.title, equals: "newer")
  }

  @Test func `A result of a run shows in all other values`() async throws {
    let script = DetailScript()
    let feed = self.client.feed(initialValue: posts([7: "a", 8: "b"]))
    script.enqueue(.value(Detail(post: Post(id: 7, title: "new"), related: posts([8: "other"]))))
    try await self.client.detail("detail", script).fetch()
    expect(self.titles(feed), equals: ["new", "other"])
  }

  @Test func `An entity that a service has pushed shows in all values`() async {
    let feed = self.client.feed(initialValue: posts([7: "a"]))
    let detail = self.client.detail(initialValue: Detail(post: Post(id: 8), related: posts([7: "a"])))
    self.client.putEntity(Post(id: 7, title: "pushed"))
    expect(self.titles(feed), equals: ["pushed"])
    expect(detail.currentValue?.related.map(\.title), equals: ["pushed"])
  }

  @Test func `Entities of two types with one identifier are two`() {
    let detail = self.client.detail(
      initialValue: Detail(post: Post(id: 1, title: "a"), author: Author(id: 1, name: "n"))
    )
    self.client.putEntity(Author(id: 1, name: "new"))
    expect(detail.currentValue, equals: Detail(post: Post(id: 1, title: "a"), author: Author(id: 1, name: "new")))
  }

  @Test func `A call shows its update in all values, and in those that come later, and then its result`() async throws {
    let feed = self.client.feed(initialValue: posts([7: "a"]))
    let call = try await self.begin(EditPost(script: self.script).withResult, Edit(id: 7))
    expect(self.titles(feed), equals: ["a!"])
    let later = self.client.feed("later", initialValue: posts([7: "old", 8: "b"]))
    expect(self.titles(later), equals: ["a!", "b"])
    #expect(later.valueStamp.isUnconfirmed)
    call.run.succeed(Post(id: 7, title: "result"))
    _ = try await call.task.value
    expect(self.titles(feed), equals: ["result"])
    expect(self.titles(later), equals: ["result", "b"])
    #expect(!later.valueStamp.isUnconfirmed)
  }

  @Test func `A call without a result makes its update part of the entity`() async throws {
    let feed = self.client.feed(initialValue: posts([7: "a"]))
    let call = try await self.begin(EditPost(script: self.script).withoutResult, Edit(id: 7))
    call.run.succeed(Post(id: 0))
    _ = try await call.task.value
    expect(self.titles(feed), equals: ["a!"])
    expect(self.titles(self.client.feed("other", initialValue: posts([7: "old"]))), equals: ["a!"])
  }

  @Test func `Of two pending calls each is rolled back without the other`() async throws {
    let feed = self.client.feed(initialValue: posts([7: "a"]))
    let detail = self.client.detail(initialValue: Detail(post: Post(id: 7, title: "a")))
    let mutation = EditPost(script: self.script).withResult
    let first = try await self.begin(mutation, Edit(id: 7, suffix: "1"))
    let second = try await self.begin(mutation, Edit(id: 7, suffix: "2"))
    expect(self.titles(feed), equals: ["a12"])
    first.run.fail(Refused())
    _ = try? await first.task.value
    expect(self.titles(feed), equals: ["a2"])
    expect(detail.currentValue?.post.title, equals: "a2")
    second.run.fail(Refused())
    _ = try? await second.task.value
    expect(self.titles(feed), equals: ["a"])
    expect(detail.currentValue?.post.title, equals: "a")
  }

  @Test func `What a store shows can be set again, and the pending update is still rolled back`() async throws {
    let feed = self.client.feed(initialValue: posts([7: "a"]))
    let other = self.client.feed("other", initialValue: posts([7: "a"]))
    let call = try await self.begin(EditPost(script: self.script).withResult, Edit(id: 7))
    feed.currentValue?.append(Post(id: 8))
    expect(self.titles(other), equals: ["a!"])
    call.run.fail(Refused())
    _ = try? await call.task.value
    expect(self.titles(feed), equals: ["a", ""])
    expect(self.titles(other), equals: ["a"])
  }

  @Test func `Subscribers see the update and the result, and nothing in between`() async throws {
    let feed = self.client.feed(initialValue: posts([7: "a"]))
    let shown = Log<String>()
    let subscription = feed.subscribe(
      with: QueryEventHandler(onStateChanged: { state, _ in shown.append(state.currentValue?.first?.title ?? "") })
    )
    let call = try await self.begin(EditPost(script: self.script).withResult, Edit(id: 7))
    call.run.succeed(Post(id: 7, title: "result"))
    _ = try await call.task.value
    let values = shown.all.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
    expect(values.drop { $0 == "a" }, equals: ["a!", "result"])
    subscription.cancel()
  }

  @Test func `A mutation that edits nothing it knows changes nothing`() async throws {
    let feed = self.client.feed(initialValue: posts([7: "a"]))
    self.script.enqueue(.value(Post(id: 9, title: "nine")))
    try await self.client.store(for: EditPost(script: self.script).withResult).mutate(with: Edit(id: 9))
    expect(self.titles(feed), equals: ["a"])
    // The result is known: a run that began before the call does not bring an older one.
    expect(self.client.entity(Post.self, id: 9)?.title, equals: "nine")
  }

  @Test func `An update of one store's value is an edit when it has become part of the value`() async throws {
    let feed = self.client.feed(initialValue: posts([7: "a"]))
    let detail = self.client.detail(initialValue: Detail(post: Post(id: 7, title: "a")))
    let mutation = EditPost(script: self.script).optimistic(on: ["feed"], of: FeedState.self) { feed, edit in
      feed?[0].title += edit.suffix
    }
    let call = try await self.begin(mutation, Edit(id: 7))
    expect(self.titles(feed), equals: ["a!"])
    expect(detail.currentValue?.post.title, equals: "a")
    call.run.succeed(Post(id: 7))
    _ = try await call.task.value
    expect(self.titles(feed), equals: ["a!"])
    expect(detail.currentValue?.post.title, equals: "a!")
  }

  @Test func `Nested parts are visited by a closure`() {
    let query = OperationScript<[[Post]], any Error>().query(path: ["board"]).entities { board in
      board.all(Post.self) { board, visit in
        for column in board.indices { for post in board[column].indices { visit(&board[column][post]) } }
      }
    }
    let board = self.client.store(
      for: query.disableAutomaticRunning(),
      initialValue: [posts([1: "a"]), posts([7: "b"])]
    )
    self.client.putEntity(Post(id: 7, title: "new"))
    expect(board.currentValue, equals: [posts([1: "a"]), posts([7: "new"])])
  }
}

typealias FeedState = QueryState<[Post], any Error>
