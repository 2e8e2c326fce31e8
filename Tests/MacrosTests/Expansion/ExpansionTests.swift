#if SwiftOperationMacros
  import TestFixtures
  import Testing

  @Suite(.bounded) struct ExpansionTests {
    @Test func `A function without arguments`() {
      expectExpansion(
        """
        @QueryRequest
        func number() -> Int { 1 }
        """,
        """
        func number() -> Int { 1 }

        nonisolated var $number: OperationMacros.FunctionQuery<OperationMacros.FunctionOrigin<723538423, 84942861>, Int, Never> {
          OperationMacros.FunctionQuery(path: OperationMacros.FunctionPath.inferred("number()", of: OperationMacros.FunctionOrigin<723538423, 84942861>.self)) {
            (
              isolation: isolated (any Actor)?,
              context: OperationCore.OperationContext,
              continuation: OperationCore.OperationContinuation<Int, Never>
            ) async throws(Never) -> Int in
            await OperationMacros.FunctionCall.result(of: number())
          }
        }
        """
      )
    }

    @Test func `A function with every part`() {
      expectExpansion(
        """
        extension Post {
          @available(macOS 26, *)
          @MainActor
          @QueryRequest(path: ["posts"])
          public static func query<ID: Hashable & Sendable>(
            for id: ID,
            _ limit: Int = 10,
            isolation: isolated (any Actor)? = #isolation,
            context: OperationContext,
            continuation: OperationContinuation<Post?, Failed>
          ) async throws(Failed) -> Post? where ID: Codable { nil }
        }
        """,
        """
        extension Post {
          @available(macOS 26, *)
          @MainActor
          public static func query<ID: Hashable & Sendable>(
            for id: ID,
            _ limit: Int = 10,
            isolation: isolated (any Actor)? = #isolation,
            context: OperationContext,
            continuation: OperationContinuation<Post?, Failed>
          ) async throws(Failed) -> Post? where ID: Codable { nil }

          @available(macOS 26, *) public nonisolated static func $query<ID: Hashable & Sendable>(for id: ID, _ limit: Int = 10) -> OperationMacros.FunctionQuery<OperationMacros.FunctionOrigin<608620955, 1415679416>, Post?, Failed> where ID: Codable {
            OperationMacros.FunctionQuery(path: OperationMacros.FunctionPath.inferred(after: ["posts"], OperationMacros.FunctionPath.argument(id), OperationMacros.FunctionPath.argument(limit)), of: Self.self) {
              (
                isolation: isolated (any Actor)?,
                context: OperationCore.OperationContext,
                continuation: OperationCore.OperationContinuation<Post?, Failed>
              ) async throws(Failed) -> Post? in
              try await Self.query(for: id, limit, isolation: isolation, context: context, continuation: continuation)
            }
          }
        }
        """
      )
    }

    @Test func `A mutation`() {
      expectExpansion(
        """
        class Server {
          @MutationRequest
          open func rename(_: Int, context name: String, with arguments: String) throws {}
        }
        """,
        """
        class Server {
          open func rename(_: Int, context name: String, with arguments: String) throws {}

          public nonisolated final func $rename(_ argument0: Int, context name: String) -> OperationMacros.FunctionMutation<OperationMacros.FunctionOrigin<943198795, 1393139676>, String, Void, any Error> {
            OperationMacros.FunctionMutation(path: OperationMacros.FunctionPath.inferred("rename(_:context:with:)", of: (OperationMacros.FunctionOrigin<943198795, 1393139676>, Self).self, OperationMacros.FunctionPath.instance(self), OperationMacros.FunctionPath.argument(argument0), OperationMacros.FunctionPath.argument(name)), of: Self.self) {
              (
                isolation: isolated (any Actor)?,
                arguments: String,
                context: OperationCore.OperationContext,
                continuation: OperationCore.OperationContinuation<Void, any Error>
              ) async throws(any Error) -> Void in
              try await OperationMacros.FunctionCall.result(of: self.rename(argument0, context: name, with: arguments))
            }
          }
        }
        """
      )
    }

    @Test func `A paginated request`() {
      expectExpansion(
        """
        struct Server {
          @PaginatedRequest(initialPageId: { (size: Int) in -size }, next: \\.last?.next, previous: Self.page)
          func feed(page size: String?, size: Int, paging: Paging<String?, [Post]>) throws -> [Post] { [] }
        }
        """,
        """
        struct Server {
          func feed(page size: String?, size: Int, paging: Paging<String?, [Post]>) throws -> [Post] { [] }

          nonisolated func $feed(size: Int) -> OperationMacros.FunctionPaginatedRequest<OperationMacros.FunctionOrigin<385668554, 543772386>, String?, [Post], any Error> {
            OperationMacros.FunctionPaginatedRequest(path: OperationMacros.FunctionPath.inferred("feed(page:size:paging:)", of: (OperationMacros.FunctionOrigin<385668554, 543772386>, Self).self, OperationMacros.FunctionPath.instance(self), OperationMacros.FunctionPath.argument(size)), of: Self.self, initialPageId: ({ (size: Int) in
                  -size
                })(size), next: .property(\\.last?.next), previous: .init(Self.page, of: self)) {
              (
                isolation: isolated (any Actor)?,
                page: String?,
                paging: OperationMacros.FunctionPaging<String?, [Post]>,
                context: OperationCore.OperationContext,
                continuation: OperationCore.OperationContinuation<[Post], any Error>
              ) async throws(any Error) -> [Post] in
              try await OperationMacros.FunctionCall.result(of: self.feed(page: page, size: size, paging: paging))
            }
          }
        }
        """
      )
      expectExpansion(
        """
        @PaginatedRequest(next: { (page: Page<Int, Feed>, size: Int) in page.id + size }, previous: nil)
        func feed(size: Int, page: Int = 0, context: OperationContext) async -> Feed { Feed() }
        """,
        """
        func feed(size: Int, page: Int = 0, context: OperationContext) async -> Feed { Feed() }

        nonisolated func $feed(size: Int) -> OperationMacros.FunctionPaginatedRequest<OperationMacros.FunctionOrigin<406946308, 1759079049>, Int, Feed, Never> {
          OperationMacros.FunctionPaginatedRequest(path: OperationMacros.FunctionPath.inferred("feed(size:page:context:)", of: OperationMacros.FunctionOrigin<406946308, 1759079049>.self, OperationMacros.FunctionPath.argument(size)), initialPageId: 0, next: .init { runPage, paging, context in
              ({ (page: Page<Int, Feed>, size: Int) in
                  page.id + size
                })(runPage, size)
            }) {
            (
              isolation: isolated (any Actor)?,
              page: Int,
              paging: OperationMacros.FunctionPaging<Int, Feed>,
              context: OperationCore.OperationContext,
              continuation: OperationCore.OperationContinuation<Feed, Never>
            ) async throws(Never) -> Feed in
            await feed(size: size, page: page, context: context)
          }
        }
        """
      )
    }

    @Test func `An operation`() {
      expectExpansion(
        """
        @OperationRequest
        private func apply(_ body: (Int) -> Int) async -> Int { body(1) }
        """,
        """
        private func apply(_ body: (Int) -> Int) async -> Int { body(1) }

        private nonisolated func $apply(_ body: @escaping @Sendable (Int) -> Int) -> OperationMacros.FunctionOperation<Int, Never> {
          OperationMacros.FunctionOperation {
            (
              isolation: isolated (any Actor)?,
              context: OperationCore.OperationContext,
              continuation: OperationCore.OperationContinuation<Int, Never>
            ) async throws(Never) -> Int in
            await apply(body)
          }
        }
        """
      )
    }

    @Test func `A custom path`() {
      expectExpansion(
        """
        struct Shop {
          @QueryRequest(path: .custom { (shop: Shop, id: Int) in ["shops", shop.name, id] })
          func item(id: Int) -> Int { id }
        }
        """,
        """
        struct Shop {
          func item(id: Int) -> Int { id }

          nonisolated func $item(id: Int) -> OperationMacros.FunctionQuery<OperationMacros.FunctionOrigin<1632796822, 1182899734>, Int, Never> {
            OperationMacros.FunctionQuery(path: ({ (shop: Shop, id: Int) in
                  ["shops", shop.name, id]
                })(self, id), of: Self.self) {
              (
                isolation: isolated (any Actor)?,
                context: OperationCore.OperationContext,
                continuation: OperationCore.OperationContinuation<Int, Never>
              ) async throws(Never) -> Int in
              await OperationMacros.FunctionCall.result(of: self.item(id: id))
            }
          }
        }
        """
      )
    }

    @Test func `Default values that may belong to an actor make a second function of that actor`() {
      expectExpansion(
        """
        @MainActor struct Feed {
          @QueryRequest
          static func posts(of user: Int = 1, limit: Int = defaultLimit()) throws -> Int { limit }
        }
        """,
        """
        @MainActor struct Feed {
          static func posts(of user: Int = 1, limit: Int = defaultLimit()) throws -> Int { limit }

          nonisolated static func $posts(of user: Int = 1, limit: Int) -> OperationMacros.FunctionQuery<OperationMacros.FunctionOrigin<553862014, 130853792>, Int, any Error> {
            OperationMacros.FunctionQuery(path: OperationMacros.FunctionPath.inferred("posts(of:limit:)", of: (OperationMacros.FunctionOrigin<553862014, 130853792>, Self).self, OperationMacros.FunctionPath.argument(user), OperationMacros.FunctionPath.argument(limit)), of: Self.self) {
              (
                isolation: isolated (any Actor)?,
                context: OperationCore.OperationContext,
                continuation: OperationCore.OperationContinuation<Int, any Error>
              ) async throws(any Error) -> Int in
              try await OperationMacros.FunctionCall.result(of: Self.posts(of: user, limit: limit))
            }
          }

          @MainActor static func $posts(of user: Int = 1, limit: Int = defaultLimit(), _: OperationMacros.FunctionDefaults = OperationMacros.FunctionDefaults()) -> OperationMacros.FunctionQuery<OperationMacros.FunctionOrigin<553862014, 130853792>, Int, any Error> {
            Self.$posts(of: user, limit: limit)
          }
        }
        """
      )
    }

    @Test func `A function that no code may call becomes an operation that does not call it`() {
      expectExpansion(
        """
        @available(*, unavailable, message: "It is gone.")
        @QueryRequest
        func posts(limit: Int) -> Int { limit }
        """,
        """
        @available(*, unavailable, message: "It is gone.")
        func posts(limit: Int) -> Int { limit }

        @available(*, unavailable, message: "It is gone.") nonisolated func $posts(limit: Int) -> OperationMacros.FunctionQuery<OperationMacros.FunctionOrigin<63622310, 1802995135>, Int, Never> {
          Swift.fatalError("'posts' is unavailable.")
        }
        """
      )
    }

    @Test func `A regular expression with a quotation mark is a default value`() {
      expectExpansion(
        #"""
        @QueryRequest
        func parts(of text: String = "a\"b", at limit: Regex<Substring> = /"/) -> Int { 1 }
        """#,
        #"""
        func parts(of text: String = "a\"b", at limit: Regex<Substring> = /"/) -> Int { 1 }

        nonisolated func $parts(of text: String = "a\"b", at limit: Regex<Substring> = /"/) -> OperationMacros.FunctionQuery<OperationMacros.FunctionOrigin<838124521, 1238152988>, Int, Never> {
          OperationMacros.FunctionQuery(path: OperationMacros.FunctionPath.inferred("parts(of:at:)", of: OperationMacros.FunctionOrigin<838124521, 1238152988>.self, OperationMacros.FunctionPath.argument(text), OperationMacros.FunctionPath.argument(limit))) {
            (
              isolation: isolated (any Actor)?,
              context: OperationCore.OperationContext,
              continuation: OperationCore.OperationContinuation<Int, Never>
            ) async throws(Never) -> Int in
            await OperationMacros.FunctionCall.result(of: parts(of: text, at: limit))
          }
        }
        """#
      )
    }

    @Test func `A context entry`() {
      expectExpansion(
        """
        extension OperationContext {
          @ContextEntry public var greeting = "hello"
          @ContextEntry var session: Session?
        }
        """,
        """
        extension OperationContext {
          public var greeting {
            get {
              self[$ContextKey_greeting.self]
            }
            set {
              self[$ContextKey_greeting.self] = newValue
            }
          }

          private nonisolated enum $ContextKey_greeting: OperationCore.OperationContext.Key {
            static let defaultValue = "hello"
          }
          var session: Session? {
            get {
              self[$ContextKey_session.self]
            }
            set {
              self[$ContextKey_session.self] = newValue
            }
          }

          private nonisolated enum $ContextKey_session: OperationCore.OperationContext.Key {
            static let defaultValue: Session? = nil
          }
        }
        """
      )
    }

    @Test func `A run`() {
      expectExpansion(
        """
        let value = try await #run($upload(file).retry(limit: 3), context: context, continuation: continuation)
        """,
        """
        let value = try await OperationCore.OperationRunner(operation: $upload(file).retry(limit: 3), initialContext: context).run(with: continuation)
        """
      )
    }
  }
#endif
