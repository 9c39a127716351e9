/*
 * Mozilla's script loader (nsXULDocument.cpp, the first example in Lu, Park, Seo and Zhou, "Learning from Mistakes",
 * ASPLOS 2008): one thread sets the current script and compiles it when it has been loaded, in two critical
 * sections; another thread, which closes a document, sets the current script to NULL in between.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#if __has_include(<foretrace.h>)
#include <foretrace.h>
#else
#define FORETRACE_ATOMIC_BEGIN(label)
#define FORETRACE_ATOMIC_END(label)
#endif

struct script {
    const char *source;
    int compiled;
};

/* Recursive, as loading a script may call back into the loader. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct script *current_script;

static void start_loading(struct script *script)
{
    pthread_mutex_lock(&lock);
    current_script = script; /* @first */
    pthread_mutex_unlock(&lock);
}

static void loading_complete(void)
{
    pthread_mutex_lock(&lock);
    struct script *script = current_script; /* @second */
    script->compiled = 1;
    pthread_mutex_unlock(&lock);
}

static void *load_script(void *script)
{
    FORETRACE_ATOMIC_BEGIN("load_script");
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    start_loading(script);
    loading_complete();
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    FORETRACE_ATOMIC_END("load_script");
    return NULL;
}

static void *close_document(void *unused)
{
    pthread_mutex_lock(&lock);
    current_script = NULL; /* @remote */
    pthread_mutex_unlock(&lock);
    return unused;
}

/* The document is closed a little later, by the time that a thread takes to start. */
static void *close_later(void *unused)
{
    pthread_t thread;
    pthread_create(&thread, NULL, close_document, unused);
    pthread_join(thread, NULL);
    return NULL;
}

int main(void)
{
    struct script script = {"alert(1)", 0};
    pthread_t loader, closer;
    pthread_create(&loader, NULL, load_script, &script);
    pthread_create(&closer, NULL, close_later, NULL);
    pthread_join(loader, NULL);
    pthread_join(closer, NULL);

    printf("%s compiled: %d\n", script.source, script.compiled);
    return script.compiled ? 0 : 1;
}
