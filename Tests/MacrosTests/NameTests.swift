#if SwiftOperationMacros
  import Operation
  import OperationTesting
  import TestFixtures
  import Testing

  // Keywords as names. That this compiles is half of the test; the results show that each parameter receives its
  // argument.

  @QueryRequest
  func members(in: Int) -> Int { `in` }

  @QueryRequest
  func keywords(for: Int, where: Int, is: Int, as: Int, repeat: Int, default: Int, class: Int, _ func: Int) -> [Int] {
    [`for`, `where`, `is`, `as`, `repeat`, `default`, `class`, `func`]
  }

  // swift-format-ignore: AlwaysUseLowerCamelCase
  @QueryRequest
  func literals(nil: Int, true: Int, false: Int, super: Int, Any: Int, init: Int, self: Int, Self: Int) -> [Int] {
    [`nil`, `true`, `false`, `super`, `Any`, `init`]
  }

  @QueryRequest
  func contextual(await: Int, async: Int, any: Int, some: Int, each: Int, get: Int, consume: Int, copy: Int) -> [Int] {
    [`await`, `async`, `any`, `some`, `each`, `get`, `consume`, `copy`]
  }

  @QueryRequest
  func statements(try: Int, throw: Int, return: Int, if: Int, switch: Int, unsafe: Int, then: Int) -> [Int] {
    [`try`, `throw`, `return`, `if`, `switch`, unsafe, then]
  }

  @QueryRequest
  func quoted(`for` `in`: Int, `id`: Int, `a name`: Int, `inout`: Int, `let`: Int, `var`: Int) -> [Int] {
    [`in`, id, `a name`, `inout`, `let`, `var`]
  }

  @QueryRequest
  func unnamed(_: Int, for _: Int, argument0: Int, _ argument1: Int) -> [Int] { [argument0, argument1] }

  @QueryRequest
  func `in`(in: Int) -> Int { `in` }

  @QueryRequest
  func `await`(_ number: Int) async -> Int { number }

  @QueryRequest
  func passed(`context`: Int, `continuation`: Int, in isolation: OperationContext) -> [Int] {
    [context, continuation]
  }

  @QueryRequest(path: .custom { (id: Int) in ["teams", id] })
  func named(where: Int) -> Int { `where` }

  @OperationRequest
  func operation(default: Int = 3) -> Int { `default` }

  @MutationRequest
  func change(in: Int, with arguments: Int) -> [Int] { [`in`, arguments] }

  private struct Team: Hashable {
    let id: Int

    @QueryRequest func members(in: Int) -> [Int] { [self.id, `in`] }

    @QueryRequest static func `default`(for: Int) -> Int { `for` }
  }

  extension OperationContext {
    @ContextEntry fileprivate var `default` = 1
    @ContextEntry fileprivate var `an entry` = 2
  }

  @Suite(.bounded) struct NameTests {
    @Test func `A keyword is the name of a parameter`() async throws {
      #expect(await OperationStore.detached(query: $members(in: 1)).fetch() == 1)
      let keywords = $keywords(for: 1, where: 2, is: 3, as: 4, repeat: 5, default: 6, class: 7, 8)
      #expect(await OperationStore.detached(query: keywords).fetch() == [1, 2, 3, 4, 5, 6, 7, 8])
      let literals = $literals(nil: 1, true: 2, false: 3, super: 4, Any: 5, init: 6, self: 7, Self: 8)
      #expect(await OperationStore.detached(query: literals).fetch() == [1, 2, 3, 4, 5, 6])
      let contextual = $contextual(await: 1, async: 2, any: 3, some: 4, each: 5, get: 6, consume: 7, copy: 8)
      #expect(await OperationStore.detached(query: contextual).fetch() == [1, 2, 3, 4, 5, 6, 7, 8])
      let statements = $statements(try: 1, throw: 2, return: 3, if: 4, switch: 5, unsafe: 6, then: 7)
      #expect(await OperationStore.detached(query: statements).fetch() == [1, 2, 3, 4, 5, 6, 7])
      #expect(await #run($operation()) == 3)
      #expect(await OperationStore.detached(mutation: $change(in: 1)).mutate(with: 2) == [1, 2])
    }

    @Test func `A name in backquotes is the name of a parameter`() async {
      let quoted = $quoted(for: 1, id: 2, `a name`: 3, `inout`: 4, let: 5, var: 6)
      #expect(await OperationStore.detached(query: quoted).fetch() == [1, 2, 3, 4, 5, 6])
    }

    @Test func `A parameter without a name gets one of its own`() async {
      let unnamed = $unnamed(1, for: 2, argument0: 3, 4)
      #expect(await OperationStore.detached(query: unnamed).fetch() == [3, 4])
    }

    @Test func `A function may have the name of a keyword`() async {
      #expect(await OperationStore.detached(query: $in(in: 1)).fetch() == 1)
      #expect(await OperationStore.detached(query: $await(2)).fetch() == 2)
      #expect(await OperationStore.detached(query: Team.$default(for: 3)).fetch() == 3)
      #expect(await OperationStore.detached(query: Team(id: 4).$members(in: 5)).fetch() == [4, 5])
    }

    @Test func `A name in backquotes may be one that every run passes`() async {
      #expect(await OperationStore.detached(query: $passed(context: 1, continuation: 2)).fetch() == [1, 2])
    }

    @Test func `A keyword is part of a path`() {
      #expect($members(in: 1).path == $members(in: 1).path)
      #expect($members(in: 1).path != $members(in: 2).path)
      #expect($named(where: 1).path == ["teams", 1])
    }

    @Test func `A context entry may have the name of a keyword`() {
      var context = OperationContext()
      context.default += 1
      context.`an entry` += 1
      #expect([context.default, context.`an entry`] == [2, 3])
    }
  }
#endif
