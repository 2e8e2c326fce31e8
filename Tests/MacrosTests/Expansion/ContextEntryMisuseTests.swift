#if SwiftOperationMacros
  import TestFixtures
  import Testing

  @Suite(.bounded) struct ContextEntryMisuseTests {
    private func expect(
      _ member: String,
      _ message: String,
      remedy: String,
      _ fixed: String,
      at location: SourceLocation = #_sourceLocation
    ) {
      let head = "extension OperationContext {"
      expectMisuse(
        "\(head)\n  \(member)\n}",
        message,
        remedy: remedy,
        "\(head)\n  \(fixed)\n}",
        at: location
      )
    }

    @Test func `Only properties become entries`() {
      self.expect(
        "→@ContextEntry func greeting() -> String { \"\" }",
        "'@ContextEntry' makes a property an entry of the context; it cannot be applied to anything else",
        remedy: "remove '@ContextEntry'",
        "func greeting() -> String { \"\" }"
      )
    }

    @Test func `An entry outside of the context is refused`() {
      expectMisuse(
        """
        struct Settings {
          →@ContextEntry var greeting = ""
        }
        """,
        "'@ContextEntry' belongs on a property in an extension of 'OperationContext'",
        remedy: "remove '@ContextEntry'",
        """
        struct Settings {
          var greeting = ""
        }
        """
      )
    }

    @Test func `An entry that cannot be written is refused`() {
      self.expect(
        "@ContextEntry →let greeting = \"\"",
        "an entry of the context can be written, so it has to be a 'var'",
        remedy: "replace 'let' with 'var'",
        "@ContextEntry var greeting = \"\""
      )
    }

    @Test(arguments: ["static", "lazy"]) func `An entry with a modifier is refused`(modifier: String) {
      self.expect(
        "@ContextEntry →\(modifier) var greeting = \"\"",
        "an entry of the context is a property of each context, so it cannot be '\(modifier)'",
        remedy: "remove '\(modifier)'",
        "@ContextEntry var greeting = \"\""
      )
    }

    @Test func `An entry with several names is refused`() {
      self.expect(
        "@ContextEntry var →(one, other) = (1, 2)",
        "an entry of the context has one name; declare each entry by itself",
        remedy: "remove '@ContextEntry'",
        "var (one, other) = (1, 2)"
      )
    }

    @Test func `An entry with accessors of its own is refused`() {
      self.expect(
        "@ContextEntry var greeting: String = \"\" →{ didSet {} }",
        "'@ContextEntry' writes the getter and the setter; an entry has an initial value instead of accessors",
        remedy: "remove the accessors",
        "@ContextEntry var greeting: String = \"\""
      )
    }

    @Test func `An entry without an initial value is refused`() {
      self.expect(
        "@ContextEntry var →greeting: String",
        "an entry of the context needs an initial value: the value in a context where the entry was never set",
        remedy: "add an initial value",
        "@ContextEntry var greeting: String = <#value#>"
      )
    }
  }
#endif
