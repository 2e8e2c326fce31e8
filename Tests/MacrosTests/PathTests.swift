#if SwiftOperationMacros
  import Operation
  import OperationTesting
  import TestFixtures
  import Testing

  private struct Draft: Identifiable, Sendable {
    let id: Int
    var text = ""
  }

  private struct Note: Identifiable, Hashable, Sendable {
    let id: Int
    var text = ""
  }

  private enum Paths {
    @QueryRequest static func first(_ id: Int) -> Int { id }
    @QueryRequest static func second(_ id: Int) -> Int { id }
    @QueryRequest static func second(_ id: String) -> Int { 0 }
    @QueryRequest static func draft(_ draft: Draft) -> Int { draft.id }
    @QueryRequest static func note(_ note: Note) -> Int { note.id }
    @QueryRequest(path: .inferredFromIdentifiable) static func noteByID(_ note: Note) -> Int { note.id }
    @QueryRequest static func drafts(_ drafts: [Draft], first: Draft?) -> Int { drafts.count }
    @QueryRequest static func notes(_ notes: [Note], first: Note?) -> Int { notes.count }
    @QueryRequest(path: .inferredFromIdentifiable)
    static func byID(id: Int, draft: Draft, of name: String) -> Int { id }
    @QueryRequest(path: .inferredFromIdentifiable) static func byLabel(id number: Int, name: String) -> Int { number }
    @QueryRequest(path: .inferredFromIdentifiable) static func drafts(_ one: Draft, with other: Note) -> Int { one.id }
    @MutationRequest(path: .inferredFromIdentifiable) static func edit(id: Int, arguments: Int) -> Int { arguments }
    @QueryRequest(path: .inferredFromHashable) static func both(_ id: Int, _ name: String) -> Int { id }
    @QueryRequest(path: ["posts"]) static func post(id: Int, draft: Draft) -> Int { id }
    @QueryRequest(path: ["all"]) static func all() -> Int { 0 }
    @QueryRequest(path: .prefixed(by: Self.root)) static func rooted(id: Int) -> Int { id }
    @QueryRequest(path: .custom { (id: Int, name: String) in ["custom", name, id] })
    static func custom(id: Int, name: String, context: OperationContext) -> Int { id }
    @QueryRequest(path: .custom(Self.path)) static func made(id: Int) -> Int { id }
    @QueryRequest(path: .custom { ["same"] }) static func one() -> Int { 1 }
    @QueryRequest(path: .custom { ["same"] }) static func other() -> Int { 2 }
    @QueryRequest(path: .custom { (work: @escaping @Sendable () -> Int, id: Int) in ["work", id] })
    static func working(_ work: () -> Int, id: Int) -> Int { work() }
    @MutationRequest(path: ["rename"]) static func rename(id: Int, arguments: String) -> String { arguments }

    static let root: OperationPath = ["root", 1]

    @Sendable static func path(_ id: Int) -> OperationPath { ["made", id] }
  }

  private struct Shop: Sendable {
    let name: String

    @QueryRequest(path: .custom { (shop: Shop, id: Int) in ["shops", shop.name, id] })
    func item(id: Int) -> Int { id }

    @QueryRequest(path: .custom { (id: Int) in ["items", id] })
    func anyItem(id: Int) -> Int { id }
  }

  private final class Machine: Sendable {
    @QueryRequest func work(_ id: Int) -> Int { id }
  }

  private actor Counter {
    var count = 0
  }

  private enum Objects {
    @QueryRequest static func machine(_ machine: Machine) async -> Int { await #run(machine.$work(7)) }
    @QueryRequest static func counter(_ counter: Counter) async -> Int { await counter.count }
    @QueryRequest static func any(_ object: any AnyObject & Sendable) -> Bool { true }
    @QueryRequest static func several(_ machines: [Machine], first: Machine?) -> Int { machines.count }
  }

  @Suite(.bounded) struct PathTests {
    @Test func `A path is the function and its arguments`() {
      #expect(Paths.$first(1).path == Paths.$first(1).path)
      #expect(Paths.$first(1).path != Paths.$first(2).path)
      #expect(Paths.$first(1).path != Paths.$second(1).path)
      #expect(Paths.$first(1).path.count == 2)
      #expect(Paths.$second(1).path.first != Paths.$second("1").path.first)
      #expect("\(Paths.$first(1).path)".contains("first(_:)"))
      #expect($plainQuery.path == $plainQuery.path)
      #expect($plainQuery.path.count == 1)
    }

    @Test func `An identifiable argument is its ID unless it is hashable`() {
      #expect(Paths.$draft(Draft(id: 1, text: "a")).path == Paths.$draft(Draft(id: 1, text: "b")).path)
      #expect(Paths.$draft(Draft(id: 1)).path != Paths.$draft(Draft(id: 2)).path)
      #expect(Paths.$note(Note(id: 1, text: "a")).path != Paths.$note(Note(id: 1, text: "b")).path)
    }

    @Test func `Identifiable arguments in optionals and arrays are their IDs`() {
      let one = Draft(id: 1, text: "a")
      let changed = Draft(id: 1, text: "b")
      #expect(Paths.$drafts([one], first: one).path == Paths.$drafts([changed], first: changed).path)
      #expect(Paths.$drafts([one], first: one).path != Paths.$drafts([one], first: nil).path)
      #expect(Paths.$drafts([one], first: one).path != Paths.$drafts([one, one], first: one).path)
      let notes = Paths.$notes([Note(id: 1, text: "a")], first: nil).path
      #expect(notes != Paths.$notes([Note(id: 1, text: "b")], first: nil).path)
      #expect(notes != Paths.$notes([Note(id: 1, text: "a")], first: Note(id: 1)).path)
    }

    @Test func `An argument with the name id is the identifier`() {
      let path = Paths.$byID(id: 1, draft: Draft(id: 2), of: "a").path
      #expect(path == Paths.$byID(id: 1, draft: Draft(id: 3), of: "b").path)
      #expect(path != Paths.$byID(id: 2, draft: Draft(id: 2), of: "a").path)
      #expect(path.count == 2)
      #expect(Paths.$byLabel(id: 1, name: "a").path == Paths.$byLabel(id: 1, name: "b").path)
      #expect(Paths.$byLabel(id: 1, name: "a").path != Paths.$byLabel(id: 2, name: "a").path)
      #expect(Paths.$edit(id: 1).path != Paths.$edit(id: 2).path)
    }

    @Test func `Without an identifier every argument is part of the ID`() {
      let path = Paths.$drafts(Draft(id: 1, text: "a"), with: Note(id: 2, text: "a")).path
      #expect(path == Paths.$drafts(Draft(id: 1, text: "b"), with: Note(id: 2, text: "b")).path)
      #expect(path != Paths.$drafts(Draft(id: 1), with: Note(id: 3)).path)
    }

    @Test func `The kind of inference can be chosen`() {
      #expect(Paths.$noteByID(Note(id: 1, text: "a")).path == Paths.$noteByID(Note(id: 1, text: "b")).path)
      #expect(Paths.$both(1, "a").path != Paths.$both(1, "b").path)
    }

    @Test func `A prefix comes before the arguments`() {
      #expect(Paths.$post(id: 1, draft: Draft(id: 2)).path == ["posts", 1, 2])
      #expect(Paths.$all.path == ["all"])
      #expect(Paths.$rooted(id: 2).path == ["root", 1, 2])
      #expect(Paths.$rename(id: 3).path == ["rename", 3])
    }

    @Test func `A custom path is made from the arguments`() {
      #expect(Paths.$custom(id: 1, name: "a").path == ["custom", "a", 1])
      #expect(Paths.$made(id: 1).path == ["made", 1])
      #expect(Paths.$working({ 1 }, id: 2).path == ["work", 2])
      #expect(Shop(name: "here").$item(id: 1).path == ["shops", "here", 1])
      #expect(Shop(name: "here").$anyItem(id: 1).path == ["items", 1])
    }

    @Test func `An object is part of the path as itself`() {
      let machine = Machine()
      #expect(machine.$work(1).path == machine.$work(1).path)
      #expect(machine.$work(1).path != Machine().$work(1).path)
    }

    @Test func `An object as an argument is part of the path as itself`() async {
      let (machine, counter) = (Machine(), Counter())
      #expect(Objects.$machine(machine).path == Objects.$machine(machine).path)
      #expect(Objects.$machine(machine).path != Objects.$machine(Machine()).path)
      #expect(Objects.$counter(counter).path == Objects.$counter(counter).path)
      #expect(Objects.$counter(counter).path != Objects.$counter(Counter()).path)
      #expect(Objects.$any(counter).path != Objects.$any(machine).path)
      let several = Objects.$several([machine], first: machine).path
      #expect(several == Objects.$several([machine], first: machine).path)
      #expect(several != Objects.$several([Machine()], first: machine).path)
      #expect(several != Objects.$several([machine], first: nil).path)
      #expect(await OperationStore.detached(query: Objects.$machine(machine)).fetch() == 7)
    }

    @Test func `A client finds the stores of a prefix`() async {
      let client = OperationClient()
      await client.store(for: Paths.$post(id: 1, draft: Draft(id: 1))).fetch()
      await client.store(for: Paths.$post(id: 2, draft: Draft(id: 1))).fetch()
      let values = client.stores(matching: ["posts"], of: QueryState<Int, Never>.self).map(\.currentValue)
      #expect(Set(values) == [1, 2])
      #expect(client.store(for: Paths.$post(id: 2, draft: Draft(id: 1))).currentValue == 2)
    }

    @Test func `Two functions with one path are reported`() {
      let client = OperationClient()
      let store = client.store(for: Paths.$one)
      expectWarning(.pathInUse) { _ = client.store(for: Paths.$other) }
      #expect(client.store(for: Paths.$one) === store)
    }
  }
#endif
