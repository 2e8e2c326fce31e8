// The reference documents' views, where they can be compiled.
#if canImport(SwiftUI)
  import SharingOperation
  import SwiftUI

  private struct PostDetailView: View {
    let post: Post

    var body: some View {
      Text(self.post.title)
    }
  }

  struct PostView: View {
    @SharedOperation<Post.Query.State> var post: Post??

    init(id: Int) {
      // By default, this will begin fetching the post.
      self._post = SharedOperation(Post.query(for: id))
    }

    var body: some View {
      Group {
        VStack {
          switch self.$post.status {
          case .result(.success(let post)):
            if let post {
              PostDetailView(post: post)
            } else {
              Text("Post Not Found")
            }
          case .result(.failure(let error)):
            Text("Error: \(error.localizedDescription).")
          case .loading:
            ProgressView()
          default:
            EmptyView()
          }
          Button("Reload") {
            Task { try await self.$post.fetch() }
          }
        }
      }
      .frame(maxWidth: .infinity, alignment: .leading)
    }
  }

  struct CreatePostView: View {
    @Environment(\.dismiss) private var dismiss
    let userId: Int
    @State private var title = ""
    @State private var postBody = ""
    @SharedOperation(Post.createMutation) private var create

    var body: some View {
      Form {
        TextField("Title", text: self.$title)
        TextField("Body", text: self.$postBody)

        Button(self.$create.isLoading ? "Creating..." : "Create") {
          Task {
            let args = Post.CreateMutation.Arguments(
              userId: self.userId,
              title: self.title,
              body: self.postBody
            )
            try await self.$create.mutate(with: args)
            self.dismiss()
          }
        }
        .disabled(self.$create.isLoading)

        if let error = self.$create.error {
          Text("Error: \(error.localizedDescription)")
        }
      }
      .navigationTitle("Create Post")
    }
  }

  struct PostsFeedView: View {
    @SharedOperation(Post.feedQuery) private var feed

    var body: some View {
      ScrollView {
        LazyVStack(spacing: 10) {
          ForEach(self.feed) { page in
            ForEach(page.value.posts) { post in
              PostDetailView(post: post)
                .frame(maxWidth: .infinity, alignment: .leading)
            }
          }
          if let error = self.$feed.error {
            Text("Error: \(error.localizedDescription)")
          }
          Button(self.$feed.isLoading ? "Loading..." : "Load More") {
            Task { try await self.$feed.fetchNextPage() }
          }
        }
      }
    }
  }
#endif
