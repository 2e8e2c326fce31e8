#if SwiftOperationMacros
  import TestFixtures
  import Testing

  @Suite(.bounded) struct DeclarationMisuseTests {
    @Test func `Only functions become operations`() {
      expectMisuse(
        """
        →@QueryRequest
        struct Post {
        }
        """,
        "'@QueryRequest' makes an operation of a function; it cannot be applied to anything else",
        remedy: "remove '@QueryRequest'",
        """
        struct Post {
        }
        """
      )
    }

    @Test func `A function becomes one operation`() {
      expectMisuse(
        """
        @QueryRequest
        →@MutationRequest(path: ["posts"])
        func post() {
        }
        """,
        "'post' already has '@QueryRequest'; a function becomes one operation",
        remedy: "remove '@MutationRequest(path: [\"posts\"])'",
        """
        @QueryRequest
        func post() {
        }
        """
      )
    }

    @Test func `A requirement without a body is refused`() {
      expectMisuse(
        """
        protocol Server {
          →@QueryRequest
          func post() async throws -> Int
        }
        """,
        "'@QueryRequest' calls the function that it is attached to, so the function needs a body",
        remedy: "remove '@QueryRequest'",
        """
        protocol Server {
          func post() async throws -> Int
        }
        """
      )
    }

    @Test func `A local function is refused`() {
      expectMisuse(
        """
        func outer() {
          →@OperationRequest
          func inner() {
          }
        }
        """,
        "'@OperationRequest' cannot be applied to a local function; make it a member of a type or a global function",
        remedy: "remove '@OperationRequest'",
        """
        func outer() {
          func inner() {
          }
        }
        """
      )
    }

    @Test func `An operator is refused`() {
      expectMisuse(
        """
        extension Post {
          →@QueryRequest
          static func + (one: Post, other: Post) -> Post { one }
        }
        """,
        "'@QueryRequest' cannot be applied to an operator: the operation is named '$' and the name of the function",
        remedy: "remove '@QueryRequest'",
        """
        extension Post {
          static func + (one: Post, other: Post) -> Post { one }
        }
        """
      )
    }

    @Test(arguments: ["mutating", "consuming"]) func `A function that changes its value is refused`(modifier: String) {
      expectMisuse(
        """
        struct Counter {
          @QueryRequest
          public →\(modifier) func next() -> Int { 1 }
        }
        """,
        "an operation stores the instance and runs any number of times, so its function cannot be '\(modifier)'",
        remedy: "remove '\(modifier)'",
        """
        struct Counter {
          @QueryRequest
          public func next() -> Int { 1 }
        }
        """
      )
    }

    @Test func `An override is refused`() {
      expectMisuse(
        """
        class Special: Service {
          @QueryRequest
          →override func name() -> String { "special" }
        }
        """,
        "'$name' of the superclass already calls this override; '@QueryRequest' belongs on the overridden function only",
        remedy: "remove '@QueryRequest'",
        """
        class Special: Service {
          override func name() -> String { "special" }
        }
        """
      )
    }

    @Test func `A parameter pack is refused`() {
      expectMisuse(
        """
        @QueryRequest(path: ["all"])
        func all<→each Item>(_ type: Int) -> Int { 1 }
        """,
        "an operation cannot be made of a function with a parameter pack",
        remedy: "replace the pack with one type",
        """
        @QueryRequest(path: ["all"])
        func all<Item>(_ type: Int) -> Int { 1 }
        """
      )
    }

    @Test func `A value of an opaque type is refused`() {
      expectMisuse(
        """
        @QueryRequest
        func posts() async throws -> [→some Hashable] { [1] }
        """,
        "the type of an operation's value has to be written out; 'some Hashable' hides it",
        remedy: "replace 'some' with 'any'",
        """
        @QueryRequest
        func posts() async throws -> [any Hashable] { [1] }
        """
      )
    }

    @Test func `A function that may not be called asynchronously is refused`() {
      expectMisuse(
        """
        @available(*, →noasync)
        @QueryRequest
        func posts() -> Int { 1 }
        """,
        """
        each run is asynchronous, and may not call 'posts'; make the operation of a function that calls it on a thread of its own
        """,
        remedy: "remove '@QueryRequest'",
        """
        @available(*, noasync)
        func posts() -> Int { 1 }
        """
      )
    }

    @Test func `A function that is obsolete on a platform is refused`() {
      expectMisuse(
        """
        @available(macOS, introduced: 10.15, →obsoleted: 12)
        @QueryRequest
        func posts() -> Int { 1 }
        """,
        """
        no code may call 'posts' on a platform where it is obsolete, and so no operation; \
        mark it with 'deprecated' there, or with 'unavailable' on all platforms
        """,
        remedy: "remove '@QueryRequest'",
        """
        @available(macOS, introduced: 10.15, obsoleted: 12)
        func posts() -> Int { 1 }
        """
      )
    }

    @Test func `A function that rethrows is refused`() {
      expectMisuse(
        """
        @OperationRequest
        func apply(_ body: () throws -> Void) →rethrows {
        }
        """,
        "whether an operation can fail does not depend on its arguments; write 'throws' in place of 'rethrows'",
        remedy: "replace 'rethrows' with 'throws'",
        """
        @OperationRequest
        func apply(_ body: () throws -> Void) throws {
        }
        """
      )
    }
  }
#endif
