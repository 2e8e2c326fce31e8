#if SwiftOperationMacros
  import Operation
  import TestFixtures
  import Testing

  extension OperationContext {
    @ContextEntry var greeting = "hello"
    @ContextEntry fileprivate var session: Int?
    @ContextEntry fileprivate var names: [String] = []
    @ContextEntry fileprivate var `default`: Double = 0.5
  }

  @Suite(.bounded) struct ContextEntryTests {
    @Test func `An entry holds its initial value`() {
      let context = OperationContext()
      #expect(context.greeting == "hello")
      #expect(context.session == nil)
      #expect(context.names == [])
      #expect(context.default == 0.5)
    }

    @Test func `A write changes that entry of that context alone`() {
      let untouched = OperationContext()
      var context = untouched
      context.greeting = "bye"
      context.names.append("Blob")
      context.session = 1

      #expect(context.greeting == "bye")
      #expect(context.names == ["Blob"])
      #expect(context.session == 1)
      #expect(context.default == 0.5)
      #expect(untouched.greeting == "hello")
      #expect(untouched.names == [])
    }
  }
#endif
