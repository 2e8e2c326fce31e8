import OperationCore
import OperationEntities
import OperationMutation
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// Random edits, runs, rollbacks and pages. After each step every value shows of each entity the newest that was confirmed,
/// with the updates that are pending.
@Suite(.bounded, .warningsAreIssues) struct ModelTests {
  /// A run of a list or a page that has not ended.
  private struct Reading {
    let store: Int
    let number: Int
    let task: Task<Void, any Error>
    let run: ScriptedRun<[Post], any Error>
  }

  private struct Call {
    let edit: Edit
    let hasResult: Bool
    let task: Task<Post, any Error>
    let run: ScriptedRun<Post, any Error>
  }

  /// What is the newest, computed from the order of the steps.
  private struct Oracle {
    var clock = 0
    var newest: [Int: (title: String, number: Int)] = [:]
    var pending: [Edit] = []

    mutating func next() -> Int {
      self.clock += 1
      return self.clock
    }

    mutating func read(_ posts: [Post], by number: Int) {
      for post in posts where number >= self.newest[post.id]?.number ?? 0 {
        self.newest[post.id] = (post.title, number)
      }
    }

    mutating func edit(_ id: Int, _ title: String) { self.newest[id] = (title, self.next()) }

    func shown(_ id: Int) -> String? {
      self.newest[id].map { known in self.pending.reduce(known.title) { $1.id == id ? $0 + $1.suffix : $0 } }
    }
  }

  private static let ids = 0..<5
  private static let feeds = 3

  private let client = OperationClient()
  private let scripts = (0..<4).map { _ in FeedScript() }
  private let edits = OperationScript<Post, any Error>()

  private func feed(_ number: Int) -> FeedStore { self.client.feed("feed \(number)", self.scripts[number]) }

  private func list() -> OperationStore<PageState> { self.client.pages(self.scripts[3]) }

  @Test(arguments: 0..<UInt64(ModelRuns.count(50, parts: 25)))
  func `Each value shows the newest that was confirmed, with the updates that are pending`(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    var oracle = Oracle()
    var (readings, calls) = ([Reading](), [Call]())
    var text = 0
    func title() -> String {
      text += 1
      return "t\(text)"
    }
    func randomPosts() -> [Post] {
      (0..<Int.random(in: 0...3, using: &generator)).map { _ in
        Int.random(in: Self.ids, using: &generator)
      }
      .reduce(into: []) { list, id in
        if !list.contains(where: { $0.id == id }) { list.append(Post(id: id, title: title())) }
      }
    }
    for step in 0..<25 {
      let number = Int.random(in: 0...Self.feeds, using: &generator)
      switch Int.random(in: 0..<12, using: &generator) {
      case 0, 1, 2:
        guard !readings.contains(where: { $0.store == number }) else { continue }
        let beginning = oracle.next()
        let task: Task<Void, any Error>
        if number == Self.feeds {
          let list = self.list()
          task = Task.immediate { _ = try await list.fetchNextPage() }
        } else {
          let feed = self.feed(number)
          task = Task.immediate { _ = try await feed.fetch() }
        }
        let run = try await self.scripts[number].next()
        readings.append(Reading(store: number, number: beginning, task: task, run: run))
      case 3, 4, 5:
        guard let index = readings.indices.randomElement(using: &generator) else { continue }
        let reading = readings.remove(at: index)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: reading.run.fail(Refused())
        case 1:
          reading.run.yield(randomPosts())
          reading.task.cancel()
        default:
          let posts = randomPosts()
          oracle.read(posts, by: reading.number)
          reading.run.succeed(posts)
        }
        _ = try? await reading.task.value
      case 6, 7:
        let edit = Edit(id: Int.random(in: Self.ids, using: &generator), suffix: "+\(step)")
        let hasResult = Bool.random(using: &generator)
        let task = self.begin(edit, hasResult)
        calls.append(Call(edit: edit, hasResult: hasResult, task: task, run: try await self.edits.next()))
        oracle.pending.append(edit)
      case 8, 9:
        guard let index = calls.indices.randomElement(using: &generator) else { continue }
        let call = calls.remove(at: index)
        let result = Post(id: call.edit.id, title: title())
        if Int.random(in: 0..<3, using: &generator) == 0 {
          call.run.fail(Refused())
        } else {
          call.run.succeed(result)
          if call.hasResult {
            oracle.edit(result.id, result.title)
          } else if let known = oracle.newest[call.edit.id] {
            oracle.edit(call.edit.id, known.title + call.edit.suffix)
          }
        }
        oracle.pending.remove(at: index)
        _ = try? await call.task.value
      case 10:
        let post = Post(id: Int.random(in: Self.ids, using: &generator), title: title())
        if self.set(post, in: number) {
          oracle.edit(post.id, post.title)
        } else {
          self.client.putEntity(post)
          oracle.edit(post.id, post.title)
        }
      default:
        guard number < Self.feeds, !readings.contains(where: { $0.store == number }) else { continue }
        self.client.clearStore(with: ["feed \(number)"])
      }
      self.check(oracle, seed, step)
    }
    for reading in readings { reading.run.fail(Refused()) }
    for reading in readings { _ = try? await reading.task.value }
    for call in calls { call.run.fail(Refused()) }
    for call in calls { _ = try? await call.task.value }
    oracle.pending = []
    self.check(oracle, seed, -1)
  }

  private func begin(_ edit: Edit, _ hasResult: Bool) -> Task<Post, any Error> {
    if hasResult {
      let store = self.client.store(for: EditPost(script: self.edits, path: ["with"]).withResult)
      return Task.immediate { try await store.mutate(with: edit) }
    }
    let store = self.client.store(for: EditPost(script: self.edits, path: ["without"]).withoutResult)
    return Task.immediate { try await store.mutate(with: edit) }
  }

  /// Sets a whole value with one part edited, as it is shown. Returns false if the store does not have the part.
  private func set(_ post: Post, in number: Int) -> Bool {
    if number == Self.feeds {
      let list = self.list()
      guard let page = list.currentValue.first(where: { $0.value.contains { $0.id == post.id } }),
        let index = page.value.firstIndex(where: { $0.id == post.id })
      else { return false }
      list.currentValue[id: page.id]?.value[index] = post
      return true
    }
    let feed = self.feed(number)
    guard let index = feed.currentValue?.firstIndex(where: { $0.id == post.id }) else { return false }
    feed.currentValue?[index] = post
    return true
  }

  private func check(_ oracle: Oracle, _ seed: UInt64, _ step: Int) {
    for store in self.client.stores(matching: []) {
      var shown: [Post] = []
      if let value = store.currentValue as? [Post] { shown = value }
      if let value = store.currentValue as? Pages<Int, [Post]> { shown = value.flatMap(\.value) }
      for post in shown {
        expect(
          post.title,
          equals: oracle.shown(post.id),
          "post \(post.id) of \(store.path), seed \(seed), step \(step)"
        )
      }
      #expect(
        store.valueStamp.isUnconfirmed == false || !oracle.pending.isEmpty,
        "\(store.path), seed \(seed), step \(step)"
      )
    }
    for id in Self.ids {
      expect(
        self.client.entity(Post.self, id: id)?.title,
        equals: oracle.shown(id),
        "post \(id), seed \(seed), step \(step)"
      )
    }
  }
}
