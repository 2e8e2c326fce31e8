import Operation

let text = "swift"

struct SearchQuery: SampleQuery {
  let text: String
}
