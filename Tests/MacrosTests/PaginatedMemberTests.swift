#if SwiftOperationMacros
  import Operation
  import OperationTesting
  import TestFixtures
  import Testing

  // Paginated requests of functions of types of each kind, and their paths.

  private typealias Numbers = [Int]

  private struct API: Hashable, Sendable {
    var limit: Int

    /// The numbers of a user, page by page.
    @PaginatedRequest(
      initialPageId: { (api: API) in -api.limit },
      next: Self.next,
      previous: { (api: API, page: Page<Int, Numbers>, user: Int) in page.id > user - api.limit ? page.id - 1 : nil }
    )
    func numbers(of user: Int, page: Int) async throws -> Numbers { [user, page] }

    func next(after page: Page<Int, Numbers>) -> Int? { page.id < self.limit ? page.id + 1 : nil }

    @PaginatedRequest(initialPageId: 0, next: nextOfBound)
    func bound(page: Int) -> Numbers { [self.limit] }

    func nextOfBound(after page: Page<Int, Numbers>, in paging: Paging<Int, Numbers>) -> Int? {
      paging.pages.count < self.limit ? page.id + 1 : nil
    }

    @PaginatedRequest(initialPageId: first, next: API.nextOfAll)
    static func all(page: Int) -> Numbers { [page] }

    @PaginatedRequest(initialPageId: Self.first, next: Self.nextOfAll)
    func some(page: Int) -> Numbers { [page, self.limit] }

    static let first = 3

    @Sendable static func nextOfAll(
      page: Page<Int, Numbers>,
      paging: Paging<Int, Numbers>,
      context: OperationContext
    )
      -> Int?
    {
      page.id + context.greeting.count
    }
  }

  private actor Archive {
    private var loaded = 0

    @PaginatedRequest(initialPageId: 0, next: \.first)
    func entries(page: Int) -> Numbers {
      self.loaded += 1
      return [self.loaded]
    }

    @PaginatedRequest(initialPageId: 0, next: Archive.next)
    func others(page: Int) -> Numbers { [page] }

    nonisolated func next(page: Page<Int, Numbers>, paging: Paging<Int, Numbers>, context: OperationContext) -> Int? {
      page.id + 5
    }
  }

  @MainActor
  private final class Model {
    var title = "title"

    @PaginatedRequest(initialPageId: 0, next: { (page: Page<Int, String>) in page.id + 1 })
    func titles(page: Int) -> String { self.title }

    static var first = 4

    @PaginatedRequest(next: { (page: Page<Int, String>) in page.id + 1 })
    static func shelves(page: Int = first) -> String { "shelf \(page)" }
  }

  @MainActor private func firstPage() -> Int { 3 }

  @MainActor
  @PaginatedRequest(next: { (page: Page<Int, String>) in page.id + 1 })
  private func shelf(page: Int = firstPage()) -> String { "shelf \(page)" }

  @MainActor
  @PaginatedRequest(next: { (page: Page<Int, String>) in page.id + 1 })
  private func books(of shelf: Int = 7, page: Int = firstPage()) -> String { "book \(shelf).\(page)" }

  private class Service: @unchecked Sendable {  // Without state.
    @PaginatedRequest(initialPageId: 0, next: \.count)
    func names(page: Int) -> String { "service" }
  }

  private final class SpecialService: Service, @unchecked Sendable {  // Without state.
    override func names(page: Int) -> String { "special" }
  }

  private struct Box<Item: Hashable & Sendable>: Hashable, Sendable {
    var item: Item

    @PaginatedRequest(
      initialPageId: 0,
      next: { (box: Self, page: Page<Int, Item>) in box.item == page.value ? 1 : nil }
    )
    func items(page: Int) -> Item { self.item }
  }

  private protocol Paged: Sendable, Hashable {
    var size: Int { get }
  }

  extension Paged {
    @PaginatedRequest(initialPageId: 0, next: { (paged: Self, page: Page<Int, Int>) in page.id + paged.size })
    func sizes(page: Int) -> Int { self.size }
  }

  private struct Pair: Paged {
    var size: Int { 2 }
  }

  @PaginatedRequest(initialPageId: nil, next: \.last)
  private func generic<ID: Hashable & Sendable>(_ ids: [ID], page: ID?) async throws -> [ID]
  where ID: CustomStringConvertible {
    page == nil ? ids : []
  }

  private enum Paths {
    @PaginatedRequest(initialPageId: 0, next: \.first) static func inferred(id: Int, page: Int) -> Numbers { [] }

    @PaginatedRequest(path: ["feeds"], initialPageId: 0, next: \.first)
    static func prefixed(id: Int, page: Int) -> Numbers { [] }

    @PaginatedRequest(path: .custom { (id: Int) in ["users", id, "feed"] }, initialPageId: 0, next: \.first)
    static func custom(id: Int, page: Int) -> Numbers { [] }

    @PaginatedRequest(path: .inferredFromIdentifiable, initialPageId: 0, next: \.first)
    static func identified(id: Int, name: String, page: Int) -> Numbers { [] }
  }

  @available(*, deprecated)
  @PaginatedRequest(initialPageId: 0, next: nil)
  func oldFeed(page: Int) {}

  @Suite(.bounded) struct PaginatedMemberTests {
    @Test func `The instance computes the first page and the neighbours`() async throws {
      let store = OperationStore.detached(query: API(limit: 1).$numbers(of: 0))
      for _ in 0..<9 where try await store.fetchNextPage() == nil { break }
      #expect(store.currentValue.map(\.id) == [-1, 0, 1])
      #expect(store.currentValue.map(\.value) == [[0, -1], [0, 0], [0, 1]])
      let previous = OperationStore.detached(query: API(limit: 1).$numbers(of: -1))
      for _ in 0..<9 where try await previous.fetchPreviousPage() == nil { break }
      #expect(previous.currentValue.map(\.id) == [-2, -1])
      let bound = OperationStore.detached(query: API(limit: 2).$bound)
      for _ in 0..<9 where await bound.fetchNextPage() == nil { break }
      #expect(bound.currentValue.map(\.id) == [0, 1])
    }

    @Test func `Functions and properties of a type serve its static functions and its members`() async {
      let all = OperationStore.detached(query: API.$all)
      #expect(await all.fetchNextPage()?.id == 3)
      #expect(await all.fetchNextPage()?.id == 8)
      let some = OperationStore.detached(query: API(limit: 7).$some)
      #expect(await some.fetchNextPage()?.value == [3, 7])
      #expect(await some.fetchNextPage()?.value == [8, 7])
    }

    @Test func `Functions of actors and classes load pages`() async {
      let archive = OperationStore.detached(query: Archive().$entries)
      #expect(await archive.fetchNextPage() == Page(id: 0, value: [1]))
      #expect(await archive.fetchNextPage() == Page(id: 1, value: [2]))
      let others = OperationStore.detached(query: Archive().$others)
      #expect(await others.fetchNextPage()?.id == 0)
      #expect(await others.fetchNextPage()?.id == 5)
      let model = OperationStore.detached(query: Model().$titles)
      #expect(await model.fetchNextPage()?.value == "title")
      #expect(await model.fetchNextPage()?.id == 1)
      let service = OperationStore.detached(query: SpecialService().$names)
      #expect(await service.fetchNextPage()?.value == "special")
      #expect(await service.fetchNextPage()?.id == 7)
    }

    @MainActor
    @Test func `The first page may be a default value that belongs to an actor`() async {
      let shelves = OperationStore.detached(query: Model.$shelves)
      #expect(await shelves.fetchNextPage() == Page(id: 4, value: "shelf 4"))
      let shelf = OperationStore.detached(query: $shelf)
      #expect(await shelf.fetchNextPage() == Page(id: 3, value: "shelf 3"))
      let books = OperationStore.detached(query: $books(of: 1))
      #expect(await books.fetchNextPage()?.value == "book 1.3")
      #expect(await books.fetchNextPage()?.value == "book 1.4")
    }

    @Test func `Whoever names the first page needs not be on the actor of its default value`() async {
      let shelf = OperationStore.detached(query: $shelf(initialPageId: 8))
      #expect(await shelf.fetchNextPage() == Page(id: 8, value: "shelf 8"))
      let books = OperationStore.detached(query: $books(initialPageId: 9))
      #expect(await books.fetchNextPage()?.value == "book 7.9")
      #expect(await $shelf.path == $shelf(initialPageId: 8).path)
    }

    @Test func `Functions of generic types and protocol extensions load pages`() async throws {
      let box = OperationStore.detached(query: Box(item: "a").$items)
      #expect(await box.fetchNextPage()?.value == "a")
      #expect(await box.fetchNextPage()?.id == 1)
      let pair = OperationStore.detached(query: Pair().$sizes)
      #expect(await pair.fetchNextPage()?.id == 0)
      #expect(await pair.fetchNextPage()?.id == 2)
      let generic = OperationStore.detached(query: $generic(["a", "b"]))
      #expect(try await generic.fetchNextPage()?.id == .some(nil))
      #expect(try await generic.fetchNextPage()?.id == "b")
      #expect(try await generic.fetchNextPage() == nil)
    }

    @Test func `A path is made of the arguments without the page`() {
      #expect(Paths.$inferred(id: 1).path == Paths.$inferred(id: 1).path)
      #expect(Paths.$inferred(id: 1).path != Paths.$inferred(id: 2).path)
      #expect(Paths.$inferred(id: 1).path.count == 2)
      #expect(Paths.$prefixed(id: 1).path == ["feeds", 1])
      #expect(Paths.$custom(id: 1).path == ["users", 1, "feed"])
      #expect(Paths.$identified(id: 1, name: "a").path == Paths.$identified(id: 1, name: "b").path)
      #expect(API(limit: 1).$numbers(of: 1).path != API(limit: 2).$numbers(of: 1).path)
    }

    @Test func `Requests have the names of their functions`() {
      #expect(API(limit: 1).$numbers(of: 1).operationName == "API.numbers(of:)")
      #expect(API.$all.operationName == "API.all")
    }

    @Test func `A client has one store for the same arguments`() async {
      let client = OperationClient()
      let store = client.store(for: Paths.$prefixed(id: 1))
      #expect(client.store(for: Paths.$prefixed(id: 1)) === store)
      #expect(client.store(for: Paths.$prefixed(id: 2)) !== store)
      #expect(client.stores(matching: ["feeds"], of: PaginatedState<Int, Numbers, Never>.self).count == 2)
    }
  }
#endif
