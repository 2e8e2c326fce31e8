#if SwiftOperationMacros
  import TestFixtures
  import Testing

  @Suite(.bounded) struct SpellingTests {
    @Test func `A keyword as the name of a parameter`() {
      expectExpansion(
        """
        @QueryRequest
        func members(in: Team, _ where: Int, for _: Int, self: Int) -> Int { 1 }
        """,
        """
        func members(in: Team, _ where: Int, for _: Int, self: Int) -> Int { 1 }

        nonisolated func $members(in: Team, _ `where`: Int, for argument2: Int, self argument3: Int) -> OperationMacros.FunctionQuery<OperationMacros.FunctionOrigin<1354364550, 1872290994>, Int, Never> {
          OperationMacros.FunctionQuery(path: OperationMacros.FunctionPath.inferred("members(in:_:for:self:)", of: OperationMacros.FunctionOrigin<1354364550, 1872290994>.self, OperationMacros.FunctionPath.argument(`in`), OperationMacros.FunctionPath.argument(`where`), OperationMacros.FunctionPath.argument(argument2), OperationMacros.FunctionPath.argument(argument3))) {
            (
              isolation: isolated (any Actor)?,
              context: OperationCore.OperationContext,
              continuation: OperationCore.OperationContinuation<Int, Never>
            ) async throws(Never) -> Int in
            await OperationMacros.FunctionCall.result(of: members(in: `in`, `where`, for: argument2, self: argument3))
          }
        }
        """
      )
    }

    @Test func `Names in backquotes`() {
      expectExpansion(
        """
        @OperationRequest
        func `in`(`in` `is`: Int, `context`: Int, `a name`: Int, `id`: Int) -> Int { 1 }
        """,
        """
        func `in`(`in` `is`: Int, `context`: Int, `a name`: Int, `id`: Int) -> Int { 1 }

        nonisolated func $in(`in` `is`: Int, `context`: Int, `a name`: Int, `id`: Int) -> OperationMacros.FunctionOperation<Int, Never> {
          OperationMacros.FunctionOperation {
            (
              isolation: isolated (any Actor)?,
              runContext: OperationCore.OperationContext,
              continuation: OperationCore.OperationContinuation<Int, Never>
            ) async throws(Never) -> Int in
            await OperationMacros.FunctionCall.result(of: `in`(in: `is`, context: context, `a name`: `a name`, id: id))
          }
        }
        """
      )
    }

    @Test func `A parameter without a name gets an unused one`() {
      expectExpansion(
        """
        @OperationRequest
        func call(_: Int, argument0: Int) -> Int { argument0 }
        """,
        """
        func call(_: Int, argument0: Int) -> Int { argument0 }

        nonisolated func $call(_ _argument0: Int, argument0: Int) -> OperationMacros.FunctionOperation<Int, Never> {
          OperationMacros.FunctionOperation {
            (
              isolation: isolated (any Actor)?,
              context: OperationCore.OperationContext,
              continuation: OperationCore.OperationContinuation<Int, Never>
            ) async throws(Never) -> Int in
            await OperationMacros.FunctionCall.result(of: call(_argument0, argument0: argument0))
          }
        }
        """
      )
    }

    @Test func `A function as a result`() {
      expectExpansion(
        """
        @OperationRequest
        func formatter() async throws(Failed) -> @Sendable (Int) -> String { { "\\($0)" } }
        """,
        """
        func formatter() async throws(Failed) -> @Sendable (Int) -> String { { "\\($0)" } }

        nonisolated var $formatter: OperationMacros.FunctionOperation<@Sendable (Int) -> String, Failed> {
          OperationMacros.FunctionOperation {
            (
              isolation: isolated (any Actor)?,
              context: OperationCore.OperationContext,
              continuation: OperationCore.OperationContinuation<@Sendable (Int) -> String, Failed>
            ) async throws(Failed) -> @Sendable (Int) -> String in
            try await formatter()
          }
        }
        """
      )
    }

    @Test func `A result that is sent`() {
      expectExpansion(
        """
        @OperationRequest
        func made() async -> sending @MainActor () -> Int { { 1 } }
        """,
        """
        func made() async -> sending @MainActor () -> Int { { 1 } }

        nonisolated var $made: OperationMacros.FunctionOperation<@MainActor () -> Int, Never> {
          OperationMacros.FunctionOperation {
            (
              isolation: isolated (any Actor)?,
              context: OperationCore.OperationContext,
              continuation: OperationCore.OperationContinuation<@MainActor () -> Int, Never>
            ) async throws(Never) -> @MainActor () -> Int in
            await made()
          }
        }
        """
      )
    }

    @Test func `Functions as arguments`() {
      expectExpansion(
        """
        @OperationRequest
        func call(
          a: (() -> Int),
          b: @MainActor @escaping () -> Int,
          c: nonisolated(nonsending) @escaping () async -> Int,
          d: @escaping Handler,
          e: (() -> Int)?,
          f: (x: () -> Int, y: [String: @Sendable () -> Int]),
          g: borrowing Word,
          h: String!
        ) async {}
        """,
        """
        func call(
          a: (() -> Int),
          b: @MainActor @escaping () -> Int,
          c: nonisolated(nonsending) @escaping () async -> Int,
          d: @escaping Handler,
          e: (() -> Int)?,
          f: (x: () -> Int, y: [String: @Sendable () -> Int]),
          g: borrowing Word,
          h: String!
        ) async {}

        nonisolated func $call(a: @escaping @Sendable () -> Int, b: @escaping @Sendable @MainActor () -> Int, c: nonisolated(nonsending) @escaping @Sendable () async -> Int, d: @escaping Handler, e: (@Sendable () -> Int)?, f: (x: @Sendable () -> Int, y: [String: @Sendable () -> Int]), g: Word, h: String?) -> OperationMacros.FunctionOperation<Void, Never> {
          OperationMacros.FunctionOperation {
            (
              isolation: isolated (any Actor)?,
              context: OperationCore.OperationContext,
              continuation: OperationCore.OperationContinuation<Void, Never>
            ) async throws(Never) -> Void in
            await call(a: a, b: b, c: c, d: d, e: e, f: f, g: g, h: h)
          }
        }
        """
      )
    }

    @Test func `Functions as arguments of a mutation`() {
      expectExpansion(
        """
        @MutationRequest(path: .custom { ["call"] })
        func call(arguments: @escaping () -> Int) async -> Int { arguments() }
        """,
        """
        func call(arguments: @escaping () -> Int) async -> Int { arguments() }

        nonisolated var $call: OperationMacros.FunctionMutation<OperationMacros.FunctionOrigin<333641135, 331865347>, @Sendable () -> Int, Int, Never> {
          OperationMacros.FunctionMutation(path: ({
                ["call"]
              })()) {
            (
              isolation: isolated (any Actor)?,
              arguments: @escaping @Sendable () -> Int,
              context: OperationCore.OperationContext,
              continuation: OperationCore.OperationContinuation<Int, Never>
            ) async throws(Never) -> Int in
            await call(arguments: arguments)
          }
        }
        """
      )
    }

    @Test func `An identifier among the arguments`() {
      expectExpansion(
        """
        @QueryRequest(path: .inferredFromIdentifiable)
        func post(id number: Int, server: Server) async -> Int { number }
        """,
        """
        func post(id number: Int, server: Server) async -> Int { number }

        nonisolated func $post(id number: Int, server: Server) -> OperationMacros.FunctionQuery<OperationMacros.FunctionOrigin<929210068, 1190519667>, Int, Never> {
          OperationMacros.FunctionQuery(path: OperationMacros.FunctionPath.inferred("post(id:server:)", of: OperationMacros.FunctionOrigin<929210068, 1190519667>.self, OperationMacros.FunctionPath.identifier(number))) {
            (
              isolation: isolated (any Actor)?,
              context: OperationCore.OperationContext,
              continuation: OperationCore.OperationContinuation<Int, Never>
            ) async throws(Never) -> Int in
            await post(id: number, server: server)
          }
        }
        """
      )
    }

    @Test func `An entry in backquotes`() {
      expectExpansion(
        """
        extension OperationContext {
          @ContextEntry var `an entry` = 1
        }
        """,
        """
        extension OperationContext {
          var `an entry` {
            get {
              self[`$ContextKey_an entry`.self]
            }
            set {
              self[`$ContextKey_an entry`.self] = newValue
            }
          }

          private nonisolated enum `$ContextKey_an entry`: OperationCore.OperationContext.Key {
            static let defaultValue = 1
          }
        }
        """
      )
    }
  }
#endif
