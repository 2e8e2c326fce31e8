#if SwiftOperationMacros
  import Operation
  import OperationTesting
  import TestFixtures
  import Testing

  // Functions of types of each kind, in the type and in extensions.

  private struct API: Hashable, Sendable {
    let host: String

    @QueryRequest
    func user(id: Int) async throws -> String { "\(self.host)/\(id)" }

    @QueryRequest
    static func version() -> Int { 7 }
  }

  extension API {
    @QueryRequest
    func status() -> String { "\(self.host) is up" }

    @QueryRequest
    fileprivate func health(of id: Int = 3) async -> String { "\(self.host)/\(id) is up" }
  }

  private enum Remote {
    @QueryRequest(path: ["remote"])
    static func post(id: Int) -> Int { id }
  }

  private actor Counter {
    private var count = 0

    @QueryRequest
    func next() -> Int {
      self.count += 1
      return self.count
    }

    @QueryRequest
    func next(by step: Int) async -> Int {
      self.count += step
      return self.count
    }

    @QueryRequest(path: .custom { (counter: Counter?, step: Int) in ["counter", step] })
    static func add(_ counter: isolated Counter?, step: Int) -> Int { step }
  }

  extension Counter {
    @QueryRequest
    func current() -> Int { self.count }

    @QueryRequest
    nonisolated func fixed() -> Int { 42 }
  }

  private class Service: @unchecked Sendable {  // Without state.
    @QueryRequest
    func name() -> String { "service" }

    @QueryRequest
    class func kind() -> String { "service kind" }
  }

  private final class SpecialService: Service, @unchecked Sendable {  // Without state.
    override func name() -> String { "special" }
    override class func kind() -> String { "special kind" }
  }

  @MainActor
  private final class Model {
    var title = "title"

    @QueryRequest
    func titleLength() -> Int { self.title.count }

    @QueryRequest
    func awaited() async -> String { self.title }

    static var limit = 5
    static func newest() -> [Int] { [3, 2, 1] }

    @QueryRequest
    func titles(of ids: [Int] = newest(), from start: Int = 1, limit: Int = limit) -> [Int] {
      Array(ids.dropFirst(start).prefix(limit))
    }

    @QueryRequest
    static func shared<ID: Hashable & Sendable>(_ id: ID, limit: Int = limit) async throws -> Int { limit }

    @available(*, unavailable, message: "Use titles(of:from:limit:).")
    @QueryRequest
    func allTitles(of id: Int) throws -> [Int] { [id] }
  }

  @MainActor private func mainActorCount() -> Int { 4 }

  @MainActor
  @QueryRequest
  private func counted(twice: Bool = false, count: Int = mainActorCount()) -> Int { twice ? 2 * count : count }

  @available(*, unavailable)
  @QueryRequest
  private func gone() async -> Int { 1 }

  @available(swift, obsoleted: 6)
  @QueryRequest
  private func goneWithLanguage(id: Int) -> Int { id }

  @available(swift, introduced: 5, obsoleted: 1000)
  @QueryRequest
  private func goneLater(id: Int) -> Int { id }

  @available(*, unavailable)
  @MutationRequest
  private func goneToo(id: Int, arguments: Int) async throws -> Int { arguments }

  private struct Box<Item: Hashable & Sendable>: Hashable, Sendable {
    var item: Item

    @QueryRequest
    func content() -> Item { self.item }

    @QueryRequest
    static func name() -> String { "\(Item.self)" }
  }

  extension Box where Item == Int {
    @QueryRequest
    func doubled() -> Int { self.item * 2 }
  }

  private protocol Named: Sendable, Hashable {
    var name: String { get }
  }

  extension Named {
    @QueryRequest
    func greeting(polite: Bool) -> String { polite ? "Good day, \(self.name)" : self.name }

    @QueryRequest
    static func count() -> Int { 1 }
  }

  private struct Person: Named {
    var name: String
  }

  @Suite(.bounded) struct MemberFunctionTests {
    @Test func `Functions of a structure and its extensions become operations`() async throws {
      let api = API(host: "example.org")
      #expect(try await OperationStore.detached(query: api.$user(id: 1)).fetch() == "example.org/1")
      #expect(await OperationStore.detached(query: API.$version).fetch() == 7)
      #expect(await OperationStore.detached(query: api.$status).fetch() == "example.org is up")
      #expect(await OperationStore.detached(query: api.$health(of: 4)).fetch() == "example.org/4 is up")
      #expect(await OperationStore.detached(query: Remote.$post(id: 5)).fetch() == 5)
    }

    @Test func `Operations have the names of their functions`() {
      let api = API(host: "example.org")
      #expect(api.$user(id: 1).stale(after: .zero).operationName == "API.user(id:)")
      #expect(API.$version.operationName == "API.version")
      #expect($asyncNumber.operationName == "asyncNumber")
      #expect($sum(1, and: 2).operationName == "sum(_:and:third:)")
    }

    @Test func `Functions of an actor run on it`() async {
      let counter = Counter()
      #expect(await OperationStore.detached(query: counter.$next).fetch() == 1)
      #expect(await OperationStore.detached(query: counter.$next(by: 2)).fetch() == 3)
      #expect(await OperationStore.detached(query: counter.$current).fetch() == 3)
      #expect(await OperationStore.detached(query: counter.$fixed).fetch() == 42)
      #expect(await OperationStore.detached(query: Counter.$add(counter, step: 6)).fetch() == 6)
    }

    @Test func `Functions of a class call their overrides`() async {
      #expect(await OperationStore.detached(query: Service().$name).fetch() == "service")
      #expect(await OperationStore.detached(query: SpecialService().$name).fetch() == "special")
      #expect(await OperationStore.detached(query: Service.$kind).fetch() == "service kind")
      #expect(await OperationStore.detached(query: SpecialService.$kind).fetch() == "special kind")
    }

    @Test func `Functions of the main actor run there`() async {
      let model = Model()
      #expect(await OperationStore.detached(query: model.$titleLength).fetch() == 5)
      #expect(await OperationStore.detached(query: model.$awaited).fetch() == "title")
    }

    @Test @MainActor func `Default values of the main actor are those of an operation that is made there`() async throws
    {
      let model = Model()
      #expect(await OperationStore.detached(query: model.$titles()).fetch() == [2, 1])
      #expect(await OperationStore.detached(query: model.$titles(of: [9, 8, 7])).fetch() == [8, 7])
      #expect(await OperationStore.detached(query: model.$titles(from: 0, limit: 2)).fetch() == [3, 2])
      #expect(try await OperationStore.detached(query: Model.$shared("a")).fetch() == 5)
      #expect(await OperationStore.detached(query: $counted(twice: true)).fetch() == 8)
      #expect(model.$titles().path == model.$titles(of: [3, 2, 1], from: 1, limit: 5).path)
    }

    @Test func `With these arguments the operation is made anywhere`() async throws {
      let model = Model()
      #expect(await OperationStore.detached(query: model.$titles(of: [1, 2, 3], limit: 1)).fetch() == [2])
      #expect(try await OperationStore.detached(query: Model.$shared(1, limit: 7)).fetch() == 7)
      #expect(await OperationStore.detached(query: $counted(count: 3)).fetch() == 3)
      #expect(await OperationStore.detached(query: await $counted()).fetch() == 4)
    }

    @Test func `Functions of a generic type become operations`() async {
      #expect(await OperationStore.detached(query: Box(item: "a").$content).fetch() == "a")
      #expect(await OperationStore.detached(query: Box(item: 4).$doubled).fetch() == 8)
      #expect(await OperationStore.detached(query: Box<Int>.$name).fetch() == "Int")
      #expect(Box<Int>.$name.path != Box<String>.$name.path)
    }

    @Test func `Functions of a protocol extension become operations`() async {
      let person = Person(name: "Blob")
      #expect(await OperationStore.detached(query: person.$greeting(polite: true)).fetch() == "Good day, Blob")
      #expect(await OperationStore.detached(query: Person.$count).fetch() == 1)
    }
  }
#endif
