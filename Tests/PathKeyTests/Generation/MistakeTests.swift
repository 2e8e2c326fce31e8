import OperationPathKeyGeneration
import TestFixtures
import Testing

@Suite(.bounded)
struct MistakeTests {
  static let all = ReadingMistakes.all + SchemaMistakes.all + MergingMistakes.all

  @Test(arguments: all)
  func `A mistake is reported at its place, with a remedy`(mistake: Mistake) {
    let found = diagnostics(sources(mistake.files))
    expect(found.map(\.description), equals: mistake.messages)
    #expect(found.contains { $0.code == mistake.code })
  }

  @Test
  func `Every kind of mistake is tested`() {
    // These three need bytes that are not text, a huge text, and two targets, so they have separate tests.
    let others: Set<Diagnostic.Code> = [.notText, .tooLarge, .pathOfTwoTargets]
    expect(Set(Self.all.map(\.code)).union(others), equals: Set(Diagnostic.Code.allCases))
    #expect(others.isDisjoint(with: Self.all.map(\.code)))
  }

  @Test
  func `All mistakes of all files are reported at once, in the order of the text`() {
    let found = diagnostics(
      sources([
        """
        {
          access: 'secret',
          paths: {
            one: { state: 'Array<' },
            two: { state },
            three: { stat: 'S' },
            'three': { state: 'S' }
            four: { state: 'S', operation: 7 },
          },
        }
        """,
        "{ paths: { 'a b': { state: 'S' } ",
      ])
    )
    expect(
      found.map { "\($0.path) \($0.line) \($0.code)" },
      equals: [
        "A.json 2 invalidAccess", "A.json 4 malformedType", "A.json 5 expectedColon", "A.json 6 missingState",
        "A.json 6 unknownField", "A.json 7 duplicateName", "A.json 8 expectedComma", "A.json 8 wrongKind",
        "B.json 1 unclosed", "B.json 1 invalidName",
      ]
    )
  }

  @Test
  func `A value that could not be read is not reported as missing too`() {
    expect(messages("{ paths: { me: { sta*te: 'S' } } }").count, equals: 1)
    expect(messages("{ pa*ths: { me: { state: 'S' } } }").count, equals: 1)
    expect(messages("{ context: { token: { ty!pe: 'S' } } }").count, equals: 1)
  }
}
