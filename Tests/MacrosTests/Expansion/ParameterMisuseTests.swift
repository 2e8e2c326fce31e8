#if SwiftOperationMacros
  import TestFixtures
  import Testing

  @Suite(.bounded) struct ParameterMisuseTests {
    private func expect(
      _ parameters: String,
      _ message: String,
      remedy: String,
      _ fixed: String,
      at location: SourceLocation = #_sourceLocation
    ) {
      expectMisuse(
        "@QueryRequest\nfunc post(\(parameters)) async throws -> Int { 1 }",
        message,
        remedy: remedy,
        "@QueryRequest\nfunc post(\(fixed)) async throws -> Int { 1 }",
        at: location
      )
    }

    @Test func `An argument that cannot be passed in each run is refused`() {
      self.expect(
        "id: →inout Int",
        "an operation stores its arguments and passes them in each run, so a parameter cannot be 'inout'",
        remedy: "remove 'inout'",
        "id: Int"
      )
      self.expect(
        "id: Int, of user: →sending User",
        "an operation stores its arguments and passes them in each run, so a parameter cannot be 'sending'",
        remedy: "remove 'sending'",
        "id: Int, of user: User"
      )
    }

    @Test func `Variadic arguments are refused`() {
      self.expect(
        "ids: Int→..., name: String",
        "an operation cannot pass on a variadic argument; take an array",
        remedy: "replace 'Int...' with '[Int]'",
        "ids: [Int], name: String"
      )
    }

    @Test func `An autoclosure is refused`() {
      expectMisuse(
        """
        @OperationRequest
        func log(_ text: →@autoclosure () -> String) {
        }
        """,
        "an operation stores its arguments, so they cannot be autoclosures; take a closure",
        remedy: "remove '@autoclosure'",
        """
        @OperationRequest
        func log(_ text: () -> String) {
        }
        """
      )
    }

    @Test func `A second parameter for what a run passes is refused`() {
      self.expect(
        "context: OperationContext, →other: OperationContext",
        "a run passes one 'OperationContext'; the function already has a parameter for it",
        remedy: "remove the parameter",
        "context: OperationContext"
      )
      expectMisuse(
        """
        @MutationRequest
        func rename(arguments: String, →with arguments: Int) {
        }
        """,
        "a mutation has one parameter 'arguments', which receives all arguments of a call",
        remedy: "remove the parameter",
        """
        @MutationRequest
        func rename(arguments: String) {
        }
        """
      )
    }

    @Test func `An optional parameter for what every run passes is refused`() {
      self.expect(
        "in context: →OperationContext?, id: Int",
        "every run passes one, so the parameter need not be optional",
        remedy: "remove '?'",
        "in context: OperationContext, id: Int"
      )
    }

    @Test func `An isolation that is not isolated or not optional is refused`() {
      self.expect(
        "isolation: →isolated any Actor",
        "a run may belong to no actor, so the isolation has to be optional",
        remedy: "replace the type with 'isolated (any Actor)?'",
        "isolation: isolated (any Actor)?"
      )
      self.expect(
        "isolation: →(any Actor)?",
        "the function runs on the actor of its run only if the parameter is 'isolated'",
        remedy: "replace the type with 'isolated (any Actor)?'",
        "isolation: isolated (any Actor)?"
      )
    }

    @Test func `A continuation of another value or failure is refused`() {
      self.expect(
        "_ continuation: →OperationContinuation",
        "the continuation takes what the function returns and throws, so its type is 'OperationContinuation<Int, any Error>'",
        remedy: "replace the type with 'OperationContinuation<Int, any Error>'",
        "_ continuation: OperationContinuation<Int, any Error>"
      )
      self.expect(
        "continuation: →OperationContinuation<Int, Never>",
        "the continuation takes what the function returns and throws, so its type is 'OperationContinuation<Int, any Error>'",
        remedy: "replace the type with 'OperationContinuation<Int, any Error>'",
        "continuation: OperationContinuation<Int, any Error>"
      )
      self.expect(
        "continuation: →OperationContinuation<String, any Error>",
        "the continuation takes what the function returns and throws, so its type is 'OperationContinuation<Int, any Error>'",
        remedy: "replace the type with 'OperationContinuation<Int, any Error>'",
        "continuation: OperationContinuation<Int, any Error>"
      )
    }
  }
#endif
